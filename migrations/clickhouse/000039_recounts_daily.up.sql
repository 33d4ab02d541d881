-- Which versions of days there are, and which recounts of hours each is made of. Written by the rollup worker after
-- counts_daily, read by day_versions.
-- Grain: a row a version, and one more when the day is sealed: its hours are dropped then, and it stands for them.
-- Kept for ever.
-- Ordered as it is asked: the versions of a day.
CREATE TABLE topk.recounts_daily
(
    day DateTime('UTC') COMMENT 'start of the day of event time',
    version UInt64 COMMENT 'as in counts_daily',
    hours Array(UInt64) COMMENT 'versions of the 24 hours it is the sum of, in their order',
    events UInt64 COMMENT 'the sum of n',
    items UInt64 COMMENT 'items counted',
    sealed UInt8 DEFAULT 0 COMMENT '1 once its hours are no longer kept: no recount of an hour changes it any more',
    recounted_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'wall clock of ClickHouse'
)
ENGINE = ReplacingMergeTree
ORDER BY (day, version, sealed)
COMMENT 'ledger of days: the greatest version of a day counts, while it is made of the newest hours'
