-- Which stretches of closed time have exact counts that were entered lately? A stretch is whole when each of its hours is in the
-- ledger; one in which nothing happened has nothing to grade. ClickHouse.
-- Parameters: hours: how many a stretch has; since: entered at that time or later; 1970 = within the last `lookback` seconds.
-- Rows: start, version: the sum of the versions of its hours, when it was last entered; newest first.
SELECT toDateTime(intDiv(toUnixTimestamp(hour), 3600 * {hours:UInt32}) * 3600 * {hours:UInt32}, 'UTC') AS start,
       toInt64(sum(hour_versions.version)) AS exact_version, max(recounted_at) AS entered
FROM topk.hour_versions
GROUP BY start
HAVING count() = {hours:UInt32} AND countIf(why != 'empty') > 0
   AND entered >= if(toUnixTimestamp({since:DateTime('UTC')}) = 0, toDateTime(now() - toIntervalSecond({lookback:UInt32}), 'UTC'), {since:DateTime('UTC')})
ORDER BY start DESC
