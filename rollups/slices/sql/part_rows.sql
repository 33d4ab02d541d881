-- How many rows have some partitions of exact counts?
-- Parameters: the partitions as a cover: total (0 = none), days, less (none), hours and their versions. Rows: part, bucket, version, rows.
SELECT part, bucket, version, count()
FROM topk.exact_cover(total = {total:UInt64},
    days = {days:Array(DateTime('UTC'))}, day_versions = {day_versions:Array(UInt64)},
    less = {less:Array(DateTime('UTC'))}, less_versions = {less_versions:Array(UInt64)},
    hours = {hours:Array(DateTime('UTC'))}, hour_versions = {hour_versions:Array(UInt64)})
GROUP BY part, bucket, version
