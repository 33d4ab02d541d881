-- Which version of each day counts, and does it hold? It does while it is the sum of the versions of its hours that count
-- now, and always once it is sealed. A day that does not hold is read hour by hour. A row a day.
CREATE VIEW topk.day_versions AS
SELECT days.day AS day, days.version AS version, days.events AS events, days.sealed AS sealed,
       days.recounted_at AS recounted_at, days.sealed OR days.hours = hours.versions AS holds
FROM
(
    SELECT day, max(d.version) AS version, argMax(d.hours, d.version) AS hours, argMax(d.events, d.version) AS events,
           max(d.sealed) AS sealed, argMax(d.recounted_at, (d.version, d.recounted_at)) AS recounted_at
    FROM topk.recounts_daily AS d
    GROUP BY day
) AS days
LEFT JOIN
(
    SELECT toStartOfDay(hour) AS day, arrayMap(x -> x.2, arraySort(groupArray((hour, version)))) AS versions
    FROM topk.hour_versions
    GROUP BY day
) AS hours ON hours.day = days.day
COMMENT 'which version of each day counts, and whether it stands for its hours'
