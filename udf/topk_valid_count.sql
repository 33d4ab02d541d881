-- topk_valid_count(item_type String, item_id String, second DateTime, n UInt64) -> UInt8: 1 for a combined row that an
-- ingestor may send, and that a view may count.
-- Example: SELECT topk_valid_count('video', 'a', toDateTime(1764547200, 'UTC'), 1)
-- Error: none; topk_count_fault says what is wrong with a row that is refused.
-- Source: topk_count_rules.
CREATE OR REPLACE FUNCTION topk_valid_count AS (item_type, item_id, second, n) ->
    NOT has(topk_count_rules(item_type, item_id, second, n), 0)
