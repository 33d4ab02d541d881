-- topk_event_identity(item_id String, event_time DateTime64(3), event_id String) -> UInt64: hash of what makes an event
-- one event, within an item type.
-- Example: SELECT topk_event_identity('a', toDateTime64('2026-01-01 00:00:00', 3, 'UTC'), 'e1')
-- Error: some two of m identities collide with probability about m^2 / 2^65: 3e-6 for 10 million.
-- Source: the event contract (README of the ingestor) for what an identity is; the probability is the birthday bound.
CREATE OR REPLACE FUNCTION topk_event_identity AS (item_id, event_time, event_id) ->
    sipHash64(item_id, toStartOfHour(event_time), event_id)
