-- Count-Min Sketch of a minute as rows: linear, so sketches add and subtract in SQL. Written by the rollup worker, a minute at
-- a time once that is over, from counts_minute, and again when that changed. No view writes it: as one it took a third of all
-- inserting and made half of all rows to merge. Read by the rollup worker when it cannot verify a list.
-- Grain: one row a cell once merged, one a filling before. Cells only grow, so the greatest n of a cell holds: a filling
-- that is repeated, or was cut off and is done again, adds nothing. Read as max(n) of a cell, then summed over buckets.
-- A bucket is whole when its seal says as many views as its source holds now: item_type empty, width 0, row 255, written
-- after all cells, n what the source held before the first of them. It goes when the cells go.
-- Dropped by the rollup worker, hours at a time, with counts_minute.
-- The estimate of an item is the least, over the rows of the sketch, of its cell: it never undercounts, and exceeds the
-- truth by more than (e / width) x N with probability at most e^-depth (Cormode, Muthukrishnan 2005).
-- Ordered as a cell is looked up. The width is in the key, so old and new widths live side by side.
CREATE TABLE topk.cms_minute
(
    item_type LowCardinality(String) COMMENT 'video, hashtag, ..., empty in a seal',
    slice LowCardinality(String) COMMENT 'global, country=IN, ...',
    bucket DateTime('UTC') COMMENT 'start of a minute of event time',
    width UInt32 COMMENT 'cells in a row: topk_cms_width(slice), 0 in a seal',
    row UInt8 COMMENT 'which of the hash functions, from 0, and 255 in a seal',
    cell UInt32 COMMENT 'topk_cms_cell(row, item_id, width)',
    n SimpleAggregateFunction(max, UInt64) COMMENT 'views of all items of that cell, replays included'
)
ENGINE = AggregatingMergeTree
PARTITION BY toStartOfHour(bucket)
ORDER BY (item_type, slice, bucket, width, row, cell)
COMMENT 'Count-Min Sketch of a minute'
