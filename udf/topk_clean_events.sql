-- topk_clean_events(item_types Array(String), item_ids Array(String), event_times Array(DateTime64(3)), event_ids Array(String))
-- -> UInt8: 1 for a message whose events topk_event_fault all finds right, and that has some.
-- Example: SELECT topk_clean_events(['video'], ['a'], [toDateTime64('2026-01-01 00:00:00', 3, 'UTC')], ['e1'])
-- Error: none.
-- Source: topk_event_rules.
CREATE OR REPLACE FUNCTION topk_clean_events AS (item_types, item_ids, event_times, event_ids) ->
    NOT has(topk_event_rules(item_types, item_ids, event_times, event_ids), 0)
