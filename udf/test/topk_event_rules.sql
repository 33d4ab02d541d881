-- One rule broken after another.
SELECT topk_event_rules(item_type, item_id, fromUnixTimestamp64Milli(ms, 'UTC'), event_id) AS rules
FROM values('item_type String, item_id String, ms Int64, event_id String',
    ('video', 'a', 1764547200000, 'e'), ('Video', 'a', 1764547200000, 'e'), ('video', '', 1764547200000, 'e'), ('video', unhex('FF'), 1764547200000, 'e'),
    ('video', 'a\0b', 1764547200000, 'e'), ('video', 'a', 1764547200000, ''), ('video', 'a', 0, 'e'), ('', '', 0, ''))
