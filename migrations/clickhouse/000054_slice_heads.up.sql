-- The most viewed items of each slice in a partition of exact counts, as exact_heads has them of all views: so that a list of 24 hours or of
-- all time groups no catalogue again. A partition never changes, so neither do its rows. Written by the rollup worker once a partition is
-- new, read by it and by the API for every list of a slice that reaches back into closed hours.
-- Grain: a slice and item type in a partition. Beside them two kinds of rows without a slice: one an item type, whose floor says that no slice
-- without a row has more views, and, once all rows of some dimensions are there, one without an item type. A repeated row is equal.
-- Kept 40 days by the wall clock, longer than any window but all time asks for a day, and hours 10 days, longer than scores of what trends ask
-- for one.
-- Ordered by slice: a union of slices is a few ranges. A row holds up to a thousand items, hence the small granules.
CREATE TABLE topk.slice_heads
(
    slice LowCardinality(String) COMMENT 'country=IN, country=IN,category=music, ...',
    dimensions UInt8 COMMENT 'which: 1 for country, 2 for category, 4 for language, added up',
    part LowCardinality(String) COMMENT 'hour, day or total: of counts_hourly, counts_daily or counts_total',
    bucket DateTime('UTC') COMMENT 'start of the hour or day, 1970 for a total',
    version UInt64 COMMENT 'as in the table that it is of',
    item_type LowCardinality(String) COMMENT 'video, hashtag, ...',
    views UInt64 COMMENT 'of all items of the slice',
    items Array(String) COMMENT 'the most viewed, as far as they have more views than floor',
    counts Array(UInt64) COMMENT 'their views',
    floor UInt64 COMMENT 'no other item of the slice has more views',
    made DateTime('UTC') DEFAULT now() COMMENT 'wall clock of ClickHouse'
)
ENGINE = ReplacingMergeTree
PARTITION BY (part = 'hour', toStartOfWeek(made))
ORDER BY (slice, dimensions, part, bucket, version, item_type)
TTL addDays(made, if(part = 'hour', 10, 40))
SETTINGS ttl_only_drop_parts = 1, index_granularity = 16
COMMENT 'the most viewed of slices in closed hours, days and all time, a cache'
