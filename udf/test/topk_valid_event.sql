-- One row a rule, at both sides of its edge. In every row validity and the fault that is named agree.
SELECT leftUTF8(item_type, 40) AS item_type, substring(hex(item_id), 1, 24) AS item_id_hex, length(item_id) AS bytes,
       toUnixTimestamp64Milli(event_time) AS milliseconds, length(event_id) AS event_id_bytes,
       topk_valid_event(item_type, item_id, event_time, event_id) AS valid,
       topk_event_fault(item_type, item_id, event_time, event_id) AS fault, valid = (fault = '') AS agree
FROM
(
    SELECT item_type, item_id, fromUnixTimestamp64Milli(ms, 'UTC') AS event_time, event_id
    FROM values('item_type String, item_id String, ms Int64, event_id String',
        ('video', 'a', 1764547200000, 'e1'), ('video', '🎬', 1764547200000, 'é'),
        (concat('a', repeat('b', 32)), 'a', 1764547200000, 'e1'), ('Video', 'a', 1764547200000, 'e1'),
        ('', 'a', 1764547200000, 'e1'), ('video', '', 1764547200000, 'e1'),
        ('video', repeat('x', 256), 1764547200000, 'e1'), ('video', repeat('x', 257), 1764547200000, 'e1'),
        ('video', 'a\0b', 1764547200000, 'e1'), ('video', unhex('FF'), 1764547200000, 'e1'),
        ('video', unhex('EDA080'), 1764547200000, 'e1'),
        ('video', 'a', 1764547200000, ''), ('video', 'a', 1764547200000, repeat('e', 64)),
        ('video', 'a', 1764547200000, repeat('e', 65)),
        ('video', 'a', 0, 'e1'), ('video', 'a', 1, 'e1'), ('video', 'a', -1, 'e1'),
        ('video', 'a', 4102444799999, 'e1'), ('video', 'a', 4102444800000, 'e1'),
        ('video', 'a', 1764547200000000, 'e1'), ('video', 'a', 9223372036854775807, 'e1'))
)
