-- topk_event_fault(item_type String, item_id String, event_time DateTime64(3), event_id String) -> String: why an event may
-- not be stored; empty when it may.
-- Example: SELECT topk_event_fault('video', 'a', toDateTime64('2026-01-01 00:00:00', 3, 'UTC'), '')
-- Error: none; the first of several faults is named.
-- Source: topk_event_rules. The text at index 0 is empty.
CREATE OR REPLACE FUNCTION topk_event_fault AS (item_type, item_id, event_time, event_id) ->
    ['item_type: does not match ^[a-z][a-z0-9_]{0,31}$',
     'item_id: not 1 to 256 bytes', 'item_id: not valid UTF-8', 'item_id: contains a control character',
     'event_id: not 1 to 64 bytes', 'event_time: not between 1970 and 2100'
    ][indexOf(topk_event_rules(item_type, item_id, event_time, event_id), 0)]
