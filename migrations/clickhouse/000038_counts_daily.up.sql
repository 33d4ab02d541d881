-- Exact counts of a closed day (UTC): the sum of its hours. Written by the rollup worker, read by everybody through
-- exact_daily or with the versions that day_versions names, and with FINAL.
-- Grain: (item, dimensions) of one version of a day, made anew from the hours whenever one of them was recounted.
-- Kept for ever, one version a day: it is what corrections of all-time totals start from.
-- Ordered by item first: lists look up a few thousand items. day and version are in the key because they partition.
CREATE TABLE topk.counts_daily
(
    item_type LowCardinality(String) COMMENT 'video, hashtag, ...',
    item_id String COMMENT 'opaque bytes, compared exactly',
    day DateTime('UTC') COMMENT 'start of the day of event time',
    version UInt64 COMMENT 'epoch microseconds, greater than any before of that day',
    country LowCardinality(String) COMMENT 'ISO 3166 alpha-2, empty when unknown',
    category LowCardinality(String) COMMENT 'empty when unknown',
    language LowCardinality(String) COMMENT 'primary BCP 47 subtag, empty when unknown',
    n UInt64 COMMENT 'views'
)
ENGINE = ReplacingMergeTree
PARTITION BY (day, version)
ORDER BY (item_type, item_id, day, version, country, category, language)
SETTINGS index_granularity = 1024
COMMENT 'exact counts per day, a partition a version'
