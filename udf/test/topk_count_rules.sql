-- One rule broken after another.
SELECT topk_count_rules(item_type, item_id, second, n) AS rules
FROM values('item_type String, item_id String, second DateTime(\'UTC\'), n UInt64',
    ('video', 'a', 1764547200, 1), ('Video', 'a', 1764547200, 1), ('video', '', 1764547200, 1), ('video', unhex('FF'), 1764547200, 1),
    ('video', 'a\0b', 1764547200, 1), ('video', 'a', 0, 1), ('video', 'a', 1764547200, 0), ('', '', 0, 0))
