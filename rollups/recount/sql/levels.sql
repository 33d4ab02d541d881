-- How many items have how many views in the partitions of a cover?
-- Parameters: type; the cover: total (0 = none), days, less, hours and their versions. Rows: views, items, most views first.
SELECT n, count() AS items
FROM
(
    SELECT toUInt64(sum(views)) AS n
    FROM
    (
        SELECT item_id, toInt64(n) AS views FROM topk.counts_total FINAL
        WHERE version = {total:UInt64} AND item_type = {type:String}
        UNION ALL
        SELECT item_id, toInt64(n) FROM topk.counts_daily FINAL
        WHERE (day, version) IN arrayZip({days:Array(DateTime('UTC'))}, {day_versions:Array(UInt64)}) AND item_type = {type:String}
        UNION ALL
        SELECT item_id, -toInt64(n) FROM topk.counts_daily FINAL
        WHERE (day, version) IN arrayZip({less:Array(DateTime('UTC'))}, {less_versions:Array(UInt64)}) AND item_type = {type:String}
        UNION ALL
        SELECT item_id, toInt64(n) FROM topk.counts_hourly FINAL
        WHERE (hour, version) IN arrayZip({hours:Array(DateTime('UTC'))}, {hour_versions:Array(UInt64)}) AND item_type = {type:String}
    )
    GROUP BY item_id
    HAVING sum(views) > 0
)
GROUP BY n
ORDER BY n DESC
