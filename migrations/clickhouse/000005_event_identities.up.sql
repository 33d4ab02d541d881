-- Hashes of the identities that arrived, by event second: uniqExact over a range is the number of distinct
-- events in it, whatever was repeated, without FINAL over whole hours of raw events.
-- Written by event_identities_mv (events without flags only), read when the max_overcount of a list is worked out.
-- A collision of two hashes makes the measured duplicates larger, never smaller.
-- Ordered by time: every question is about a time range of one item type. Dropped with counts_second.
CREATE TABLE topk.event_identities
(
    item_type LowCardinality(String) COMMENT 'video, hashtag, ...',
    second DateTime('UTC') COMMENT 'event time, floored to the second' CODEC(Delta, ZSTD(1)),
    identity UInt64 COMMENT 'hash of (item_id, hour, event_id)' CODEC(NONE)
)
ENGINE = MergeTree
PARTITION BY toStartOfHour(second)
ORDER BY (item_type, second)
COMMENT 'identities of counted events by second, to measure duplicates'
