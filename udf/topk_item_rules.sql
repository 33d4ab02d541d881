-- topk_item_rules(item_types Array(String), item_ids Array(String)) -> Array(UInt8): the rules of an item, those that combined
-- rows and events share: whether all types match, all ids are 1 to 256 bytes, valid UTF-8, and free of control characters.
-- Example: SELECT topk_item_rules(['video'], ['a'])
-- Error: none; no items keep no rule but those of their text.
-- Source: the event contract (README of the ingestor). least, not AND, which would copy arrays to spare an argument that is
-- nearly always needed.
CREATE OR REPLACE FUNCTION topk_item_rules AS (item_types, item_ids) ->
    [arrayAll(x -> match(x, '^[a-z][a-z0-9_]{0,31}$'), arrayDistinct(item_types)),
     least(arrayMin(i -> length(i), item_ids) >= 1, arrayMax(i -> length(i), item_ids) <= 256),
     isValidUTF8(arrayStringConcat(item_ids, ',')),
     NOT match(arrayStringConcat(item_ids, ','), '[\\x00-\\x1f\\x7f]')]
