-- The table of topk_valid_count: how many rows are good and bad, whatever is asked, and messages of several.
SELECT countIf(good) AS good_rows, countIf(NOT good) AS bad_rows, countIf(topk_clean_counts([item_type], [item_id], [second], [n]) != good) AS disagreements,
       topk_clean_counts(groupArrayIf(item_type, good), groupArrayIf(item_id, good), groupArrayIf(second, good), groupArrayIf(n, good)) AS all_good,
       topk_clean_counts(groupArray(item_type), groupArray(item_id), groupArray(second), groupArray(n)) AS all
FROM
(
    SELECT *, topk_valid_count(item_type, item_id, second, n) AS good
    FROM values('item_type String, item_id String, second DateTime(\'UTC\'), n UInt64',
        ('video', 'a', 1764547200, 1), ('h', '🎬', 1764547200, 1), ('hash_tag_9', 'مرحبا', 1764547200, 1),
        (concat('a', repeat('b', 31)), 'a', 1764547200, 1), (concat('a', repeat('b', 32)), 'a', 1764547200, 1),
        ('', 'a', 1764547200, 1), ('Video', 'a', 1764547200, 1), ('9video', 'a', 1764547200, 1), ('vid eo', 'a', 1764547200, 1),
        ('video\n', 'a', 1764547200, 1), ('vidéo', 'a', 1764547200, 1),
        ('video', '', 1764547200, 1), ('video', repeat('x', 256), 1764547200, 1), ('video', repeat('x', 257), 1764547200, 1),
        ('video', repeat('é', 128), 1764547200, 1), ('video', repeat('é', 129), 1764547200, 1),
        ('video', ' ', 1764547200, 1), ('video', '-1', 1764547200, 1), ('video', 'a/b%2F..\'"\\', 1764547200, 1),
        ('video', 'a\0b', 1764547200, 1), ('video', 'a\n', 1764547200, 1), ('video', char(127), 1764547200, 1),
        ('video', unhex('FF'), 1764547200, 1), ('video', unhex('EDA080'), 1764547200, 1), ('video', unhex('61C3'), 1764547200, 1),
        ('video', 'a', 0, 1), ('video', 'a', 1, 1), ('video', 'a', 4102444799, 1), ('video', 'a', 4102444800, 1),
        ('video', 'a', 4294967295, 1),
        ('video', 'a', 1764547200, 0), ('video', 'a', 1764547200, 1000000000), ('video', 'a', 1764547200, 1000000001),
        ('video', 'a', 1764547200, 9223372036854775808), ('video', 'a', 1764547200, 18446744073709551615),
        ('', '', 0, 0))
)
