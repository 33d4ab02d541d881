-- topk_event_rules(item_types Array(String), item_ids Array(String), event_times Array(DateTime64(3)), event_ids
-- Array(String)) -> Array(UInt8): for each rule of an event, in the order of the texts in topk_event_fault, whether all keep it.
-- Example: SELECT topk_event_rules(['video'], ['a'], [toDateTime64('2026-01-01 00:00:00', 3, 'UTC')], ['e1'])
-- Error: none; no events keep no rule.
-- Source: the event contract (README of the ingestor). A time from 2100 on is a misread one, microseconds for instance.
CREATE OR REPLACE FUNCTION topk_event_rules AS (item_types, item_ids, event_times, event_ids) -> arrayConcat(
    topk_item_rules(item_types, item_ids),
    [least(arrayMin(e -> length(e), event_ids) >= 1, arrayMax(e -> length(e), event_ids) <= 64),
     least(arrayMin(t -> toUnixTimestamp64Milli(t), event_times) >= 1,
           arrayMax(t -> toUnixTimestamp64Milli(t), event_times) <= 4102444799999)])
