-- Which item types have the most views in some partitions of exact counts?
-- Parameters: the partitions as a cover: total (0 = none), days, less (none), hours and their versions; most: how many. Rows: item_type.
SELECT item_type
FROM topk.exact_cover(total = {total:UInt64},
    days = {days:Array(DateTime('UTC'))}, day_versions = {day_versions:Array(UInt64)},
    less = {less:Array(DateTime('UTC'))}, less_versions = {less_versions:Array(UInt64)},
    hours = {hours:Array(DateTime('UTC'))}, hour_versions = {hour_versions:Array(UInt64)})
GROUP BY item_type
ORDER BY sum(views) DESC, item_type
LIMIT {most:UInt32}
