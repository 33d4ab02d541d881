-- topk_valid_count(item_type, item_id, second, n) -> UInt8: a combined row that an ingestor may send.
-- Example: SELECT topk_valid_count('video', 'a', toDateTime(1764547200, 'UTC'), 1)
-- A count over 1e9 in one second is no count: it would rank first for ever.
CREATE OR REPLACE FUNCTION topk_valid_count AS (item_type, item_id, second, n) ->
    match(item_type, '^[a-z][a-z0-9_]{0,31}$') AND length(item_id) BETWEEN 1 AND 256 AND isValidUTF8(item_id)
    AND toUnixTimestamp(second) > 0 AND n BETWEEN 1 AND 1000000000
