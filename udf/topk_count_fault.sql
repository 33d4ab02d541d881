-- topk_count_fault(item_type String, item_id String, second DateTime, n UInt64) -> String: why a combined row may not be
-- counted; empty when it may.
-- Example: SELECT topk_count_fault('video', '', toDateTime(1764547200, 'UTC'), 1)
-- Error: none; the first of several faults is named.
-- Source: topk_count_rules. The text at index 0 is empty.
CREATE OR REPLACE FUNCTION topk_count_fault AS (item_type, item_id, second, n) ->
    ['item_type: does not match ^[a-z][a-z0-9_]{0,31}$',
     'item_id: not 1 to 256 bytes', 'item_id: not valid UTF-8', 'item_id: contains a control character',
     'second: not between 1970 and 2100', 'n: not between 1 and 1000000000'
    ][indexOf(topk_count_rules(item_type, item_id, second, n), 0)]
