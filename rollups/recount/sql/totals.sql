-- How many views do item types have in the partitions of a cover, the busiest ones?
-- Parameters: most: how many types; the cover: total (0 = none), days, less, hours and their versions. Rows: item_type, views.
SELECT item_type, toUInt64(sum(views)) AS n
FROM topk.exact_cover(total = {total:UInt64},
    days = {days:Array(DateTime('UTC'))}, day_versions = {day_versions:Array(UInt64)},
    less = {less:Array(DateTime('UTC'))}, less_versions = {less_versions:Array(UInt64)},
    hours = {hours:Array(DateTime('UTC'))}, hour_versions = {hour_versions:Array(UInt64)})
GROUP BY item_type
HAVING sum(views) > 0
ORDER BY n DESC, item_type
LIMIT {most:UInt32}
