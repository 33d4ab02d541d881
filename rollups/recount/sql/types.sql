-- Which item types have the most views in the partitions of a cover?
-- Parameters: k; the cover: total (0 = none), days, less, hours and their versions. Rows: item_type, in order.
SELECT type
FROM
(
    SELECT toString(item_type) AS type, toInt64(n) AS views FROM topk.counts_total FINAL
    WHERE version = {total:UInt64}
    UNION ALL
    SELECT toString(item_type), toInt64(n) FROM topk.counts_daily FINAL
    WHERE (day, version) IN arrayZip({days:Array(DateTime('UTC'))}, {day_versions:Array(UInt64)})
    UNION ALL
    SELECT toString(item_type), -toInt64(n) FROM topk.counts_daily FINAL
    WHERE (day, version) IN arrayZip({less:Array(DateTime('UTC'))}, {less_versions:Array(UInt64)})
    UNION ALL
    SELECT toString(item_type), toInt64(n) FROM topk.counts_hourly FINAL
    WHERE (hour, version) IN arrayZip({hours:Array(DateTime('UTC'))}, {hour_versions:Array(UInt64)})
)
GROUP BY type
HAVING sum(views) > 0
ORDER BY sum(views) DESC, type
LIMIT {k:UInt32}
