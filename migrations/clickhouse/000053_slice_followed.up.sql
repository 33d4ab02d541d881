-- The items that may soon be in a list of a slice, by which they are counted in each minute that is filled. Written by the rollup worker after
-- each round of lists, read when it fills slice_minutes. A hint: without it lists are as true, and leave more to be counted.
-- Grain: an item of a slice in a version. The newest version is read.
-- Kept an hour by the wall clock.
-- Ordered as it is asked.
CREATE TABLE topk.slice_followed
(
    version UInt64 COMMENT 'epoch microseconds when it was made',
    dimensions UInt8 COMMENT 'of the slice, as in slice_minutes',
    item_type LowCardinality(String) COMMENT 'video, hashtag, ...',
    country LowCardinality(String) COMMENT 'empty when unknown, or when it is none of the dimensions',
    category LowCardinality(String) COMMENT 'the same',
    language LowCardinality(String) COMMENT 'the same',
    item_id String COMMENT 'opaque bytes, compared exactly',
    made DateTime('UTC') DEFAULT now() COMMENT 'wall clock of ClickHouse'
)
ENGINE = MergeTree
PARTITION BY toStartOfTenMinutes(made)
ORDER BY (version, dimensions)
TTL made + INTERVAL 1 HOUR
SETTINGS ttl_only_drop_parts = 1
COMMENT 'items that may soon be in a list of a slice'
