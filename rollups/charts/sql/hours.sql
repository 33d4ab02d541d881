-- Which hours are recounted, and of which are there raw events? From `since` on, and at least from two days before the first raw
-- events: the day that they belong to begins less than that before, in any zone.
-- Parameters: since (DateTime). Rows: hour, its version that counts (0 = not recounted), why, whether it had events then, how many of
-- them count (0 = it was made of fewer rows than that, which proves nothing), rows of raw events now, first hour in the whole ledger
-- (1970 = it is empty).
WITH
    kept AS
    (
        SELECT toDateTime(partition, 'UTC') AS hour, sum(p.rows) AS kept_rows
        FROM system.parts AS p
        WHERE database = 'topk' AND table = 'events' AND active AND p.rows > 0
        GROUP BY hour
    ),
    (SELECT min(hour) FROM topk.recounts) AS first
SELECT hour, ledger.version, ledger.why, ledger.events > 0,
       if(ledger.events >= ledger.distinct_events, ledger.distinct_events, 0), kept.kept_rows, first
FROM
(
    SELECT hour, version, toString(why) AS why, events, distinct_events
    FROM topk.hour_versions
    WHERE hour >= (SELECT min(hour) FROM (SELECT hour - INTERVAL 2 DAY AS hour FROM kept UNION ALL SELECT {since:DateTime('UTC')}))
) AS ledger
FULL OUTER JOIN kept USING (hour)
ORDER BY hour
