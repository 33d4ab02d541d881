-- topk_valid_event(item_type, item_id, event_time, event_id) -> UInt8: an event that an ingestor may send.
-- Example: SELECT topk_valid_event('video', 'a', toDateTime64('2026-01-01 00:00:00', 3, 'UTC'), 'e1')
CREATE OR REPLACE FUNCTION topk_valid_event AS (item_type, item_id, event_time, event_id) ->
    match(item_type, '^[a-z][a-z0-9_]{0,31}$') AND length(item_id) BETWEEN 1 AND 256 AND isValidUTF8(item_id)
    AND length(event_id) BETWEEN 1 AND 64 AND toUnixTimestamp64Milli(event_time) > 0
