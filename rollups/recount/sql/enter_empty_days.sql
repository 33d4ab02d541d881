-- Enter the days before `closed` in which nothing happened at all: a gap of years is one statement, and not one a day.
-- Parameters: closed: midnight (DateTime).
INSERT INTO topk.recounts_daily (day, version, hours, events, items)
SELECT hours.day, greatest(toUInt64(toUnixTimestamp64Micro(now64(6))), 1 + days.version), hours.versions, 0, 0
FROM
(
    SELECT toStartOfDay(hour) AS day, arrayMap(x -> x.2, arraySort(groupArray((hour, version)))) AS versions
    FROM topk.hour_versions
    WHERE hour < {closed:DateTime('UTC')}
    GROUP BY day
    HAVING count() = 24 AND countIf(why = 'empty') = 24
) AS hours
LEFT JOIN topk.day_versions AS days ON days.day = hours.day
WHERE NOT days.holds
