-- topk_count_fault(item_type String, item_id String, second DateTime, n UInt64) -> String: why topk_valid_count refuses a
-- row; empty when it does not.
-- Example: SELECT topk_count_fault('video', '', toDateTime(1764547200, 'UTC'), 1)
-- Error: none; the first of several faults is named.
-- Source: the event contract (README of the ingestor).
CREATE OR REPLACE FUNCTION topk_count_fault AS (item_type, item_id, second, n) -> multiIf(
    NOT match(item_type, '^[a-z][a-z0-9_]{0,31}$'), 'item_type: does not match ^[a-z][a-z0-9_]{0,31}$',
    NOT (length(item_id) BETWEEN 1 AND 256), 'item_id: not 1 to 256 bytes',
    NOT isValidUTF8(item_id), 'item_id: not valid UTF-8',
    match(item_id, '[\\x00-\\x1f\\x7f]'), 'item_id: contains a control character',
    NOT (toUnixTimestamp(second) BETWEEN 1 AND 4102444799), 'second: not between 1970 and 2100',
    NOT (n BETWEEN 1 AND 1000000000), 'n: not between 1 and 1000000000',
    '')
