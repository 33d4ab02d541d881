-- Exact counts of a closed hour: events with repeats removed and flagged ones left out. Written by the rollup worker, by
-- topk recount, and by hand (rollups/recount/README.md), read by everybody through exact_hourly or with the versions that
-- hour_versions names, and with FINAL.
-- Grain: (item, dimensions) of one recount of an hour. Each recount is a version and a partition of its own: a repeated
-- insert of it replaces itself, what vanished in a newer one is gone, and an old one is dropped whole.
-- Which version counts stands in recounts, so rows that nobody has entered there are never read.
-- Kept 35 days of event time, then sealed in counts_daily and dropped.
-- Ordered by item first: lists look up a few thousand items. hour and version are in the key because they partition.
CREATE TABLE topk.counts_hourly
(
    item_type LowCardinality(String) COMMENT 'video, hashtag, ...',
    item_id String COMMENT 'opaque bytes, compared exactly',
    hour DateTime('UTC') COMMENT 'start of the hour of event time',
    version UInt64 COMMENT 'which recount: epoch microseconds when it began, greater than any before of that hour',
    country LowCardinality(String) COMMENT 'ISO 3166 alpha-2, empty when unknown',
    category LowCardinality(String) COMMENT 'empty when unknown',
    language LowCardinality(String) COMMENT 'primary BCP 47 subtag, empty when unknown',
    n UInt64 COMMENT 'views'
)
ENGINE = ReplacingMergeTree
PARTITION BY (hour, version)
ORDER BY (item_type, item_id, hour, version, country, category, language)
SETTINGS index_granularity = 1024
COMMENT 'exact counts per hour, a partition a recount'
