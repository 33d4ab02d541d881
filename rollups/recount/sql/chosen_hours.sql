-- Which hours of [from, until) are closed, and which of them were recounted for the given reason a short while ago?
-- Parameters: from, until (DateTime); why: empty for none; within (seconds).
-- Rows: hour, rows of events, done, end of the newest closed hour.
SELECT h.hour AS hour, arrived.kept,
       {why:String} != '' AND h.why = {why:String} AND h.recounted_at > now64(3) - toIntervalSecond({within:UInt32}),
       (SELECT max(r.hour) + INTERVAL 1 HOUR FROM topk.recounts AS r)
FROM topk.hour_versions AS h
LEFT JOIN
(
    SELECT toDateTime(partition, 'UTC') AS hour, sum(p.rows) AS kept
    FROM system.parts AS p
    WHERE database = 'topk' AND table = 'events' AND active AND p.rows > 0
    GROUP BY hour
) AS arrived USING (hour)
WHERE hour >= {from:DateTime('UTC')} AND hour < {until:DateTime('UTC')}
ORDER BY hour
