-- topk_clean_counts(item_types Array(String), item_ids Array(String), seconds Array(DateTime), ns Array(UInt64)) -> UInt8: 1 for
-- a message whose combined rows topk_count_fault all finds right, and that has some.
-- Example: SELECT topk_clean_counts(['video'], ['a'], [toDateTime(1764547200, 'UTC')], [1])
-- Error: none.
-- Source: topk_count_rules.
CREATE OR REPLACE FUNCTION topk_clean_counts AS (item_types, item_ids, seconds, ns) ->
    NOT has(topk_count_rules(item_types, item_ids, seconds, ns), 0)
