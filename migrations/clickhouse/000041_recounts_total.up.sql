-- Which days, in which versions, each version of counts_total holds: so a day can be in it once only, and what a correction
-- has to take out is known. Written by the rollup worker after counts_total, read by total_parts.
-- Grain: a row a version.
-- Kept for ever: a few kilobytes a day.
-- Ordered by version: the greatest one counts.
CREATE TABLE topk.recounts_total
(
    version UInt64 COMMENT 'as in counts_total',
    days Array(DateTime('UTC')) COMMENT 'the days it is the sum of, in their order',
    versions Array(UInt64) COMMENT 'their versions in counts_daily',
    events UInt64 COMMENT 'the sum of n',
    recounted_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'wall clock of ClickHouse'
)
ENGINE = ReplacingMergeTree
ORDER BY version
COMMENT 'ledger of totals: the greatest version counts'
