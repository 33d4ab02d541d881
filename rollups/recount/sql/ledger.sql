-- What do the ledgers say, and when was that? One question, and a plain one: each name of a view in it costs some milliseconds.
-- Rows: an hour of a day that is not sealed, in the version that counts (flag: 1 = it is empty, 2 = it was counted before); a day, in
-- its newest version (flag: 1 = it is sealed), with the versions of the hours that it is made of; the newest total (version 0 = none),
-- with the days in it and their versions.
-- Columns: part (hour, day, total), bucket: its start; version, since when it is entered, flag, its events, days, versions, time of
-- the answer.
SELECT 'hour' AS part, hour AS bucket, max(r.version) AS number, argMax(r.recounted_at, r.version) AS since,
       multiIf(uniqExact(r.version) > 1, 2, argMax(r.why, r.version) = 'empty', 1, 0) AS flag,
       argMax(r.distinct_events, r.version) AS views, [] AS days, [] AS versions, now64(3, 'UTC') AS now
FROM topk.recounts AS r
WHERE toStartOfDay(hour) NOT IN (SELECT s.day FROM topk.recounts_daily AS s WHERE s.sealed = 1)
GROUP BY hour
UNION ALL
SELECT 'day', day, max(d.version), argMax(d.recounted_at, (d.version, d.recounted_at)), max(d.sealed), argMax(d.events, d.version),
       [], argMax(d.hours, d.version), now64(3, 'UTC')
FROM topk.recounts_daily AS d
GROUP BY day
UNION ALL
SELECT 'total', toDateTime(0, 'UTC'), max(t.version), argMax(t.recounted_at, t.version), 0, argMax(t.events, t.version),
       argMax(t.days, t.version), argMax(t.versions, t.version), now64(3, 'UTC')
FROM topk.recounts_total AS t
