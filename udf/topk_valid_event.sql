-- topk_valid_event(item_type String, item_id String, event_time DateTime64(3), event_id String) -> UInt8: 1 for an event
-- that an ingestor may send, and that a view may store.
-- Example: SELECT topk_valid_event('video', 'a', toDateTime64('2026-01-01 00:00:00', 3, 'UTC'), 'e1')
-- Error: none; topk_event_fault says what is wrong with an event that is refused.
-- Source: the event contract (README of the ingestor). A time from 2100 on is a misread one, microseconds for instance.
CREATE OR REPLACE FUNCTION topk_valid_event AS (item_type, item_id, event_time, event_id) ->
    match(item_type, '^[a-z][a-z0-9_]{0,31}$') AND length(item_id) BETWEEN 1 AND 256 AND isValidUTF8(item_id)
    AND NOT match(item_id, '[\\x00-\\x1f\\x7f]') AND length(event_id) BETWEEN 1 AND 64
    AND toUnixTimestamp64Milli(event_time) BETWEEN 1 AND 4102444799999
