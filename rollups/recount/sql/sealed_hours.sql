-- Which hours were entered after their day was sealed? They count nowhere, unless the day's newest version names them.
-- Parameters: most: how many days. Rows: day, how many of its hours, newest version of them, in order.
SELECT toStartOfDay(hour) AS sealed_day, count(), max(newest)
FROM
(
    SELECT hour, max(r.version) AS newest
    FROM topk.recounts AS r
    WHERE toStartOfDay(hour) IN (SELECT s.day FROM topk.recounts_daily AS s WHERE s.sealed = 1)
    GROUP BY hour
)
WHERE (sealed_day, newest) NOT IN
(
    SELECT day, arrayJoin(made)
    FROM
    (
        SELECT day, argMax(d.hours, d.version) AS made
        FROM topk.recounts_daily AS d
        GROUP BY day
    )
)
GROUP BY sealed_day
ORDER BY sealed_day
LIMIT {most:UInt32}
