-- How many items have how many views in the partitions of a cover?
-- Parameters: type; the cover: total (0 = none), days, less, hours and their versions. Rows: views, items, most views first.
SELECT n, count() AS items
FROM
(
    SELECT toUInt64(sum(views)) AS n
    FROM topk.exact_cover(total = {total:UInt64},
        days = {days:Array(DateTime('UTC'))}, day_versions = {day_versions:Array(UInt64)},
        less = {less:Array(DateTime('UTC'))}, less_versions = {less_versions:Array(UInt64)},
        hours = {hours:Array(DateTime('UTC'))}, hour_versions = {hour_versions:Array(UInt64)})
    WHERE item_type = {type:String}
    GROUP BY item_id
    HAVING sum(views) > 0
)
GROUP BY n
ORDER BY n DESC
