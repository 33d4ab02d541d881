-- topk_count_rules(item_type String, item_id String, second DateTime, n UInt64) -> Array(UInt8): for each rule of a combined row,
-- in the order of the texts in topk_count_fault, whether it is kept.
-- Example: SELECT topk_count_rules('video', 'a', toDateTime(1764547200, 'UTC'), 1)
-- Error: none.
-- Source: the event contract (README of the ingestor). A count over 1e9 in one second is no count: it would rank first
-- for ever. A second from 2100 on is a wrapped or misread time, milliseconds for instance. multiMatchAny is match for many bytes at
-- once.
CREATE OR REPLACE FUNCTION topk_count_rules AS (item_type, item_id, second, n) ->
    [match(item_type, '^[a-z][a-z0-9_]{0,31}$'),
     length(item_id) BETWEEN 1 AND 256, isValidUTF8(item_id), NOT multiMatchAny(item_id, ['[\\x00-\\x1f\\x7f]']),
     toUnixTimestamp(second) BETWEEN 1 AND 4102444799, n BETWEEN 1 AND 1000000000]
