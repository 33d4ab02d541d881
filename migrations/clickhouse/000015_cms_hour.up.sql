-- Count-Min Sketch of an hour as rows: linear, so sketches add and subtract in SQL. Written by the rollup
-- worker, an hour at a time once that has ended, from cms_minute, and again when that changed. Read by the rollup worker when it cannot verify a list.
-- Grain: one row a cell once merged, one a filling before. Cells only grow, so the greatest n of a cell holds: a filling
-- that is repeated, or was cut off and is done again, adds nothing. Read as max(n) of a cell, then summed over buckets.
-- A bucket is whole when its seal says as many views as the seals of its source: see cms_minute.
-- Kept 30 days of event time: the rollup worker drops whole partitions.
-- The estimate of an item is the least, over the rows of the sketch, of its cell: it never undercounts, and exceeds the
-- truth by more than (e / width) x N with probability at most e^-depth (Cormode, Muthukrishnan 2005).
-- Ordered as a cell is looked up. The width is in the key, so old and new widths live side by side.
CREATE TABLE topk.cms_hour
(
    item_type LowCardinality(String) COMMENT 'video, hashtag, ..., empty in a seal',
    slice LowCardinality(String) COMMENT 'global, country=IN, ...',
    bucket DateTime('UTC') COMMENT 'start of an hour of event time',
    width UInt32 COMMENT 'cells in a row: topk_cms_width(slice), 0 in a seal',
    row UInt8 COMMENT 'which of the hash functions, from 0, and 255 in a seal',
    cell UInt32 COMMENT 'topk_cms_cell(row, item_id, width)',
    n SimpleAggregateFunction(max, UInt64) COMMENT 'views of all items of that cell, replays included'
)
ENGINE = AggregatingMergeTree
PARTITION BY toStartOfMonth(bucket)
ORDER BY (item_type, slice, bucket, width, row, cell)
COMMENT 'Count-Min Sketch of an hour'
