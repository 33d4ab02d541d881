-- Which recounts of hours there are. The one with the greatest version is the one that counts, and every other is past: so
-- a row here, written after the counts, is what makes them valid at once and whole. Written by whoever writes counts_hourly,
-- read by hour_versions and the rollup worker.
-- Grain: a row a recount. A repeated row replaces itself. An hour without events has a row too, with no counts: it says so.
-- Kept for ever: a few hundred bytes an hour, and the record of what was corrected, when and why.
-- Ordered as it is asked: the versions of an hour.
CREATE TABLE topk.recounts
(
    hour DateTime('UTC') COMMENT 'start of the hour of event time',
    version UInt64 COMMENT 'as in counts_hourly',
    events UInt64 COMMENT 'rows of events that were there, repeats that no merge had met and flagged ones included',
    distinct_events UInt64 COMMENT 'events counted: the sum of n',
    items UInt64 COMMENT 'items counted',
    events_block Int64 DEFAULT 0 COMMENT 'newest block of events in that hour when the recount began, a newer one makes the hour due again',
    why LowCardinality(String) COMMENT 'closed, late, by hand, ...',
    recounted_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'wall clock of ClickHouse'
)
ENGINE = ReplacingMergeTree
ORDER BY (hour, version)
COMMENT 'ledger of recounts: the greatest version of an hour counts'
