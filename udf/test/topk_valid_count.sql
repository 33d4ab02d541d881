-- One row a rule, at both sides of its edge. In every row the verdicts agree: validity, the fault that is named, and that on a
-- message which holds the row, alone and between good ones.
SELECT leftUTF8(item_type, 40) AS item_type, substring(hex(item_id), 1, 24) AS item_id_hex, length(item_id) AS bytes,
       toUnixTimestamp(second) AS second, n,
       topk_valid_count(item_type, item_id, second, n) AS valid, topk_count_fault(item_type, item_id, second, n) AS fault,
       valid = (fault = '') AND valid = topk_clean_counts([item_type], [item_id], [second], [n])
           AND valid = topk_clean_counts(['video', item_type, 'video'], ['a', item_id, 'a'], [toDateTime(1764547200, 'UTC'), second, toDateTime(1764547200, 'UTC')], [1, n, 1]) AS agree
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
