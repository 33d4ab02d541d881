-- The most viewed items of each partition of exact counts, by item type, so that a list of 24 hours or of all time groups no catalogue
-- again. A partition never changes, so neither does its row, and the partition can rebuild it. Written by the rollup worker when the
-- first list needs the partition, read by it for every list.
-- Grain: an item type in a partition, at most a thousand types of it, and once all are there a row without one. A repeated row is equal.
-- Kept 40 days by the wall clock, longer than any window but all time asks for a partition.
-- Ordered as it is asked: by the name of the partition.
CREATE TABLE topk.exact_heads
(
    part LowCardinality(String) COMMENT 'hour, day or total: of counts_hourly, counts_daily or counts_total',
    bucket DateTime('UTC') COMMENT 'start of the hour or day, 1970 for a total',
    version UInt64 COMMENT 'as in the table that it is of',
    item_type LowCardinality(String) COMMENT 'video, hashtag, ...',
    views UInt64 COMMENT 'of all items of the type',
    items Array(String) COMMENT 'the most viewed ones, most first, then by bytes',
    counts Array(UInt64) COMMENT 'their views',
    floor UInt64 COMMENT 'no other item has more views',
    made DateTime('UTC') DEFAULT now() COMMENT 'wall clock of ClickHouse'
)
ENGINE = ReplacingMergeTree
PARTITION BY toStartOfWeek(made)
ORDER BY (part, bucket, version, item_type)
TTL made + INTERVAL 40 DAY
SETTINGS ttl_only_drop_parts = 1, index_granularity = 64
COMMENT 'the most viewed of closed hours, days and all time, a cache'
