-- The first of several faults is named.
SELECT topk_event_fault('', '', toDateTime64(0, 3, 'UTC'), '') AS all_wrong,
       topk_event_fault('video', '', toDateTime64(0, 3, 'UTC'), '') AS three_wrong,
       topk_event_fault('video', 'a', toDateTime64(0, 3, 'UTC'), '') AS two_wrong,
       topk_event_fault('video', 'a', toDateTime64(0, 3, 'UTC'), 'e') AS one_wrong,
       topk_event_fault('video', 'a', toDateTime64(1, 3, 'UTC'), 'e') AS none_wrong
