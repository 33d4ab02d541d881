-- The table of topk_valid_event: how many rows are good and bad, whatever is asked, and messages of several.
SELECT countIf(good) AS good_rows, countIf(NOT good) AS bad_rows, countIf(topk_clean_events([item_type], [item_id], [event_time], [event_id]) != good) AS disagreements,
       topk_clean_events(groupArrayIf(item_type, good), groupArrayIf(item_id, good), groupArrayIf(event_time, good), groupArrayIf(event_id, good)) AS all_good,
       topk_clean_events(groupArray(item_type), groupArray(item_id), groupArray(event_time), groupArray(event_id)) AS all
FROM
(
    SELECT *, topk_valid_event(item_type, item_id, event_time, event_id) AS good
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
)
