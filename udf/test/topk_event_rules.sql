-- One rule broken after another, by one event of two.
SELECT topk_event_rules(item_types, item_ids, times, event_ids) AS rules, topk_clean_events(item_types, item_ids, times, event_ids) AS clean
FROM
(
    SELECT item_types, item_ids, arrayMap(x -> fromUnixTimestamp64Milli(x, 'UTC'), ms) AS times, event_ids
    FROM values('item_types Array(String), item_ids Array(String), ms Array(Int64), event_ids Array(String)',
        (['video', 'h'], ['a', 'b'], [1, 4102444799999], ['e', repeat('e', 64)]),
        (['video', 'H'], ['a', 'b'], [1, 4102444799999], ['e', repeat('e', 64)]),
        (['video', 'h'], ['a', ''], [1, 4102444799999], ['e', repeat('e', 64)]),
        (['video', 'h'], ['a', 'b'], [1, 4102444799999], ['e', repeat('e', 65)]),
        (['video', 'h'], ['a', 'b'], [1, 4102444799999], ['', 'e']),
        (['video', 'h'], ['a', 'b'], [0, 4102444799999], ['e', 'f']),
        (['video', 'h'], ['a', 'b'], [1, 4102444800000], ['e', 'f']),
        ([], [], [], []))
)
