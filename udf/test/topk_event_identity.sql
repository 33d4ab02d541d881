-- Times inside one hour are one identity, another hour, item or id is another one. A boundary between item and id counts.
SELECT topk_event_identity('a', toDateTime64('2026-01-01 00:00:00.000', 3, 'UTC'), 'e1') AS identity, toTypeName(identity) AS type,
       identity = topk_event_identity('a', toDateTime64('2026-01-01 00:59:59.999', 3, 'UTC'), 'e1') AS same_hour,
       identity = topk_event_identity('a', toDateTime64('2026-01-01 01:00:00.000', 3, 'UTC'), 'e1') AS next_hour,
       identity = topk_event_identity('b', toDateTime64('2026-01-01 00:00:00.000', 3, 'UTC'), 'e1') AS other_item,
       identity = topk_event_identity('a', toDateTime64('2026-01-01 00:00:00.000', 3, 'UTC'), 'e2') AS other_id,
       topk_event_identity('ab', toDateTime64('2026-01-01 00:00:00.000', 3, 'UTC'), 'c') = topk_event_identity('a', toDateTime64('2026-01-01 00:00:00.000', 3, 'UTC'), 'bc') AS boundary,
       topk_event_identity('', toDateTime64('1970-01-01 00:00:00.000', 3, 'UTC'), '') AS empties,
       topk_event_identity('🎬', toDateTime64('2099-12-31 23:59:59.999', 3, 'UTC'), 'é') AS non_ascii
