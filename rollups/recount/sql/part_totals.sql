-- How many views do the busiest item types of some partitions have?
-- Parameters: most: how many types of each; the partitions: total (0 = none), days, hours and their versions.
-- Rows: part, bucket, version, item_type, views; partition by partition.
SELECT part, bucket, version, item_type, sum(n) AS views
FROM
(
    SELECT 'total' AS part, toDateTime(0, 'UTC') AS bucket, version, item_type, n FROM topk.counts_total FINAL
    WHERE version = {total:UInt64}
    UNION ALL
    SELECT 'day', day, version, item_type, n FROM topk.counts_daily FINAL
    WHERE (day, version) IN arrayZip({days:Array(DateTime('UTC'))}, {day_versions:Array(UInt64)})
    UNION ALL
    SELECT 'hour', hour, version, item_type, n FROM topk.counts_hourly FINAL
    WHERE (hour, version) IN arrayZip({hours:Array(DateTime('UTC'))}, {hour_versions:Array(UInt64)})
)
GROUP BY part, bucket, version, item_type
HAVING views > 0
ORDER BY part, bucket, version, views DESC, item_type
LIMIT {most:UInt32} BY part, bucket, version
