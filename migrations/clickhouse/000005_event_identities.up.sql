-- Hashes of the identities that arrived, by event second: the number of distinct events in any range, whatever was
-- repeated, without FINAL over whole hours of raw events.
-- Written by event_identities_mv (events without flags only), read when the max_overcount of a list is worked out.
-- A collision of two hashes makes the measured duplicates larger, never smaller.
-- Grain: what one message brought for (item type, second, stamped), as one array. A row an event costs a sort in every
-- insert and merge, which an array does not. A message is never split between blocks, so a replayed one writes the same row.
-- Ordered by time: every question is about seconds of one item type, then by what names the message. A row may hold
-- thousands of hashes, hence the small granules. Dropped with counts_second.
CREATE TABLE topk.event_identities
(
    item_type LowCardinality(String) COMMENT 'video, hashtag, ...',
    second DateTime('UTC') COMMENT 'event time, floored to the second',
    stamped UInt8 COMMENT 'whose clock gave the time, as in events_in',
    partition UInt32 COMMENT 'Kafka partition',
    offset Int64 COMMENT 'Kafka offset, random and negative when written by hand',
    events UInt32 COMMENT 'length of identities, which FINAL would read whole to tell',
    identities Array(UInt64) COMMENT 'hashes of (item_id, hour, event_id), repeats included' CODEC(NONE)
)
ENGINE = ReplacingMergeTree
PARTITION BY toStartOfHour(second)
ORDER BY (item_type, second, stamped, partition, offset)
SETTINGS index_granularity = 64
COMMENT 'identities of counted events by second, to measure duplicates'
