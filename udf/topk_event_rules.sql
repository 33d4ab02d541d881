-- topk_event_rules(item_type String, item_id String, event_time DateTime64(3), event_id String) -> Array(UInt8): for each rule of
-- an event, in the order of the texts in topk_event_fault, whether it is kept. The first four are those of topk_count_rules.
-- Example: SELECT topk_event_rules('video', 'a', toDateTime64('2026-01-01 00:00:00', 3, 'UTC'), 'e1')
-- Error: none.
-- Source: the event contract (README of the ingestor). A time from 2100 on is a misread one, microseconds for instance.
CREATE OR REPLACE FUNCTION topk_event_rules AS (item_type, item_id, event_time, event_id) ->
    [match(item_type, '^[a-z][a-z0-9_]{0,31}$'),
     length(item_id) BETWEEN 1 AND 256, isValidUTF8(item_id), NOT multiMatchAny(item_id, ['[\\x00-\\x1f\\x7f]']),
     length(event_id) BETWEEN 1 AND 64, toUnixTimestamp64Milli(event_time) BETWEEN 1 AND 4102444799999]
