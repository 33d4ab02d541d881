-- How many views do item types have in the partitions of a cover, the busiest ones?
-- Parameters: most: how many types; the cover: total (0 = none), days, less, hours and their versions.
-- Rows: item_type, views.
SELECT item_type, toUInt64(sum(views)) AS n
FROM
(
    SELECT item_type, toInt64(n) AS views FROM topk.counts_total FINAL
    WHERE version = {total:UInt64}
    UNION ALL
    SELECT item_type, toInt64(n) FROM topk.counts_daily FINAL
    WHERE (day, version) IN arrayZip({days:Array(DateTime('UTC'))}, {day_versions:Array(UInt64)})
    UNION ALL
    SELECT item_type, -toInt64(n) FROM topk.counts_daily FINAL
    WHERE (day, version) IN arrayZip({less:Array(DateTime('UTC'))}, {less_versions:Array(UInt64)})
    UNION ALL
    SELECT item_type, toInt64(n) FROM topk.counts_hourly FINAL
    WHERE (hour, version) IN arrayZip({hours:Array(DateTime('UTC'))}, {hour_versions:Array(UInt64)})
)
GROUP BY item_type
HAVING sum(views) > 0
ORDER BY n DESC, item_type
LIMIT {most:UInt32}
