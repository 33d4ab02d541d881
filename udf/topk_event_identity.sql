-- topk_event_identity(item_id String, event_time DateTime64, event_id String) -> UInt64: hash of what makes an event one event.
-- Example: SELECT topk_event_identity('a', toDateTime64('2026-01-01 00:00:00', 3, 'UTC'), 'e1')
-- Error: two of m identities collide with probability about m^2 / 2^65.
CREATE OR REPLACE FUNCTION topk_event_identity AS (item_id, event_time, event_id) ->
    sipHash64(item_id, toStartOfHour(event_time), event_id)
