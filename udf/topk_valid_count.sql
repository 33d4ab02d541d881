-- topk_valid_count(item_type String, item_id String, second DateTime, n UInt64) -> UInt8: 1 for a combined row that an
-- ingestor may send, and that a view may count.
-- Example: SELECT topk_valid_count('video', 'a', toDateTime(1764547200, 'UTC'), 1)
-- Error: none; topk_count_fault says what is wrong with a row that is refused.
-- Source: the event contract (README of the ingestor). A count over 1e9 in one second is no count: it would rank first
-- for ever. A second from 2100 on is a wrapped or misread time, milliseconds for instance.
CREATE OR REPLACE FUNCTION topk_valid_count AS (item_type, item_id, second, n) ->
    match(item_type, '^[a-z][a-z0-9_]{0,31}$') AND length(item_id) BETWEEN 1 AND 256 AND isValidUTF8(item_id)
    AND NOT match(item_id, '[\\x00-\\x1f\\x7f]')
    AND toUnixTimestamp(second) BETWEEN 1 AND 4102444799 AND n BETWEEN 1 AND 1000000000
