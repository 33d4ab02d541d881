-- One rule broken after another, by one row of three.
SELECT topk_count_rules(item_types, item_ids, seconds, ns) AS rules, topk_clean_counts(item_types, item_ids, seconds, ns) AS clean
FROM values('item_types Array(String), item_ids Array(String), seconds Array(DateTime(\'UTC\')), ns Array(UInt64)',
    (['video', 'video', 'h'], ['a', 'b', 'c'], [1, 1764547200, 4102444799], [1, 2, 1000000000]),
    (['video', '', 'h'], ['a', 'b', 'c'], [1, 1764547200, 4102444799], [1, 2, 1000000000]),
    (['video', 'video', 'h'], ['a', '', 'c'], [1, 1764547200, 4102444799], [1, 2, 1000000000]),
    (['video', 'video', 'h'], ['a', 'b', 'c'], [1, 0, 4102444799], [1, 2, 1000000000]),
    (['video', 'video', 'h'], ['a', 'b', 'c'], [1, 4102444800, 4102444799], [1, 2, 1000000000]),
    (['video', 'video', 'h'], ['a', 'b', 'c'], [1, 1764547200, 4102444799], [1, 0, 1000000000]),
    (['video', 'video', 'h'], ['a', 'b', 'c'], [1, 1764547200, 4102444799], [1, 9223372036854775808, 1000000000]),
    ([], [], [], []))
