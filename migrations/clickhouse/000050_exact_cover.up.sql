-- Exact counts in given partitions: the total, days and hours in the versions given, and days that are taken away from the total. Read by
-- the rollup worker, which asks the ledgers for the versions first: so all that it asks afterwards is of one moment.
-- Grain: a row of one of the three tables (item and dimensions), with negative views where they are taken away.
-- Parameters: total (0 = none), and days, less, hours and their versions, equally long.
CREATE VIEW topk.exact_cover AS
SELECT 'total' AS part, toDateTime(0, 'UTC') AS bucket, version, item_type, item_id, country, category, language, toInt64(n) AS views
FROM topk.counts_total FINAL
WHERE version = {total:UInt64}
UNION ALL
SELECT 'day' AS part, day AS bucket, version, item_type, item_id, country, category, language, toInt64(n) AS views
FROM topk.counts_daily FINAL
WHERE (day, version) IN arrayZip({days:Array(DateTime('UTC'))}, {day_versions:Array(UInt64)})
UNION ALL
SELECT 'less' AS part, day AS bucket, version, item_type, item_id, country, category, language, -toInt64(n) AS views
FROM topk.counts_daily FINAL
WHERE (day, version) IN arrayZip({less:Array(DateTime('UTC'))}, {less_versions:Array(UInt64)})
UNION ALL
SELECT 'hour' AS part, hour AS bucket, version, item_type, item_id, country, category, language, toInt64(n) AS views
FROM topk.counts_hourly FINAL
WHERE (hour, version) IN arrayZip({hours:Array(DateTime('UTC'))}, {hour_versions:Array(UInt64)})
COMMENT 'exact counts in given versions of hours, days and the total'
