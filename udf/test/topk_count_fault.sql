-- The first of several faults is named, and an empty text says that there is none.
SELECT topk_count_fault('', '', toDateTime(0, 'UTC'), 0) AS all_wrong,
       topk_count_fault('video', '', toDateTime(0, 'UTC'), 0) AS three_wrong,
       topk_count_fault('video', 'a', toDateTime(0, 'UTC'), 0) AS two_wrong,
       topk_count_fault('video', 'a', toDateTime(1, 'UTC'), 0) AS one_wrong,
       topk_count_fault('video', 'a', toDateTime(1, 'UTC'), 1) AS none_wrong
