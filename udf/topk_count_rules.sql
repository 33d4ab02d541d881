-- topk_count_rules(item_types Array(String), item_ids Array(String), seconds Array(DateTime), ns Array(UInt64)) ->
-- Array(UInt8): for each rule of a combined row, in the order of the texts in topk_count_fault, whether all rows keep it.
-- Example: SELECT topk_count_rules(['video'], ['a'], [toDateTime(1764547200, 'UTC')], [1])
-- Error: none; no rows keep no rule. A rule is asked of extremes and of all ids as one text, for a tenth of what asking row by
-- row costs: an id that is cut short does not become valid before a comma.
-- Source: the event contract (README of the ingestor). A count over 1e9 in one second is no count: it would rank first
-- for ever. A second from 2100 on is a wrapped or misread time, milliseconds for instance.
CREATE OR REPLACE FUNCTION topk_count_rules AS (item_types, item_ids, seconds, ns) -> arrayConcat(
    topk_item_rules(item_types, item_ids),
    [least(arrayMin(s -> toUnixTimestamp(s), seconds) >= 1, arrayMax(s -> toUnixTimestamp(s), seconds) <= 4102444799),
     least(arrayMin(ns) >= 1, arrayMax(ns) <= 1000000000)])
