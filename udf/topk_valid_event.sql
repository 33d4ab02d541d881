-- topk_valid_event(item_type String, item_id String, event_time DateTime64(3), event_id String) -> UInt8: 1 for an event
-- that an ingestor may send, and that a view may store.
-- Example: SELECT topk_valid_event('video', 'a', toDateTime64('2026-01-01 00:00:00', 3, 'UTC'), 'e1')
-- Error: none; topk_event_fault says what is wrong with an event that is refused.
-- Source: topk_event_rules.
CREATE OR REPLACE FUNCTION topk_valid_event AS (item_type, item_id, event_time, event_id) ->
    NOT has(topk_event_rules(item_type, item_id, event_time, event_id), 0)
