-- Which partitions of exact counts are there?
-- Rows: table, partition_id, its rows, parts, how often the least merged part was, time since the last write in seconds.
SELECT table, partition_id, sum(rows), count(), min(level), dateDiff('second', max(modification_time), now())
FROM system.parts
WHERE database = 'topk' AND table IN ('counts_hourly', 'counts_daily', 'counts_total') AND active AND rows > 0
GROUP BY table, partition_id
ORDER BY table, partition_id
