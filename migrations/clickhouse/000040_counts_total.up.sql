-- Exact counts of many days together, so that all time is read in one partition and not in one a day. Written by the rollup
-- worker: a new version is the one before, plus days, less the versions of days that it replaces. Read by all through exact_total,
-- or with the partitions that total_parts names, and with FINAL. By itself it is not all time: newer days are not in it yet.
-- Grain: (item, dimensions) of one version.
-- Kept: the newest version, while older ones are dropped when nobody reads them any more.
-- Ordered by item first: lists look up a few thousand items. The version is in the key because it partitions.
CREATE TABLE topk.counts_total
(
    item_type LowCardinality(String) COMMENT 'video, hashtag, ...',
    item_id String COMMENT 'opaque bytes, compared exactly',
    version UInt64 COMMENT 'epoch microseconds, greater than any before',
    country LowCardinality(String) COMMENT 'ISO 3166 alpha-2, empty when unknown',
    category LowCardinality(String) COMMENT 'empty when unknown',
    language LowCardinality(String) COMMENT 'primary BCP 47 subtag, empty when unknown',
    n UInt64 COMMENT 'views'
)
ENGINE = ReplacingMergeTree
PARTITION BY version
ORDER BY (item_type, item_id, version, country, category, language)
SETTINGS index_granularity = 1024
COMMENT 'exact counts of all folded days, a partition a version'
