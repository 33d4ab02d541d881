-- topk_event_fault(item_type String, item_id String, event_time DateTime64(3), event_id String) -> String: why
-- topk_valid_event refuses an event; empty when it does not.
-- Example: SELECT topk_event_fault('video', 'a', toDateTime64('2026-01-01 00:00:00', 3, 'UTC'), '')
-- Error: none; the first of several faults is named.
-- Source: the event contract (README of the ingestor).
CREATE OR REPLACE FUNCTION topk_event_fault AS (item_type, item_id, event_time, event_id) -> multiIf(
    NOT match(item_type, '^[a-z][a-z0-9_]{0,31}$'), 'item_type: does not match ^[a-z][a-z0-9_]{0,31}$',
    NOT (length(item_id) BETWEEN 1 AND 256), 'item_id: not 1 to 256 bytes',
    NOT isValidUTF8(item_id), 'item_id: not valid UTF-8',
    match(item_id, '[\\x00-\\x1f\\x7f]'), 'item_id: contains a control character',
    NOT (length(event_id) BETWEEN 1 AND 64), 'event_id: not 1 to 64 bytes',
    NOT (toUnixTimestamp64Milli(event_time) BETWEEN 1 AND 4102444799999), 'event_time: not between 1970 and 2100',
    '')
