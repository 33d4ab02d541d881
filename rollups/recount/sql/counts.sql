-- How many views do given items have in the partitions of a cover?
-- Parameters: type; ids: Array(String); the cover: total (0 = none), days, less, hours and their versions. Rows: item_id, views.
SELECT item_id, toUInt64(sum(views)) AS n
FROM
(
    SELECT item_id, toInt64(n) AS views FROM topk.counts_total FINAL
    WHERE version = {total:UInt64} AND item_type = {type:String} AND item_id IN {ids:Array(String)}
    UNION ALL
    SELECT item_id, toInt64(n) FROM topk.counts_daily FINAL
    WHERE (day, version) IN arrayZip({days:Array(DateTime('UTC'))}, {day_versions:Array(UInt64)}) AND item_type = {type:String} AND item_id IN {ids:Array(String)}
    UNION ALL
    SELECT item_id, -toInt64(n) FROM topk.counts_daily FINAL
    WHERE (day, version) IN arrayZip({less:Array(DateTime('UTC'))}, {less_versions:Array(UInt64)}) AND item_type = {type:String} AND item_id IN {ids:Array(String)}
    UNION ALL
    SELECT item_id, toInt64(n) FROM topk.counts_hourly FINAL
    WHERE (hour, version) IN arrayZip({hours:Array(DateTime('UTC'))}, {hour_versions:Array(UInt64)}) AND item_type = {type:String} AND item_id IN {ids:Array(String)}
)
GROUP BY item_id
HAVING sum(views) > 0
