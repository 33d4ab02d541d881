-- How many views do the busiest item types of some partitions have?
-- Parameters: most: how many types of each; the partitions as a cover: total (0 = none), days, less (none), hours and their versions.
-- Rows: part, bucket, version, item_type, views; partition by partition.
SELECT part, bucket, version, item_type, toUInt64(sum(views)) AS n
FROM topk.exact_cover(total = {total:UInt64},
    days = {days:Array(DateTime('UTC'))}, day_versions = {day_versions:Array(UInt64)},
    less = {less:Array(DateTime('UTC'))}, less_versions = {less_versions:Array(UInt64)},
    hours = {hours:Array(DateTime('UTC'))}, hour_versions = {hour_versions:Array(UInt64)})
GROUP BY part, bucket, version, item_type
HAVING sum(views) > 0
ORDER BY part, bucket, version, n DESC, item_type
LIMIT {most:UInt32} BY part, bucket, version
