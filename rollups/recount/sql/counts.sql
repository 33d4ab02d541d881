-- How many views do given items have in the partitions of a cover?
-- Parameters: type; ids; the cover: total (0 = none), days, less, hours and their versions. Rows: item_id, views.
SELECT item_id, toUInt64(sum(views)) AS n
FROM topk.exact_cover(total = {total:UInt64},
    days = {days:Array(DateTime('UTC'))}, day_versions = {day_versions:Array(UInt64)},
    less = {less:Array(DateTime('UTC'))}, less_versions = {less_versions:Array(UInt64)},
    hours = {hours:Array(DateTime('UTC'))}, hour_versions = {hour_versions:Array(UInt64)})
WHERE item_type = {type:String} AND item_id IN {ids:Array(String)}
GROUP BY item_id
HAVING sum(views) > 0
