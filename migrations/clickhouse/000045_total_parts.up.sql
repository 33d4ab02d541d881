-- Which partitions are all time together, each with its sign? The newest total, then the days that are not in it (+1) or in
-- another version (the one in it -1), then the hours of days that have no sum that holds (+1). So a recount of any hour, however
-- old, is in all time as soon as it is in the ledger, once, and nothing has to be added up to get it there.
-- Rows: part (total, day, hour), bucket (its start, 1970 for total), version, sign.
CREATE VIEW topk.total_parts AS
SELECT 'total' AS part, toDateTime(0, 'UTC') AS bucket, max(r.version) AS version, toInt8(1) AS sign
FROM topk.recounts_total AS r
HAVING version > 0
UNION ALL
SELECT 'day', day, version, toInt8(1)
FROM topk.day_versions
WHERE holds AND (day, version) NOT IN (SELECT day, version FROM topk.folded_days)
UNION ALL
SELECT 'day', day, version, toInt8(-1)
FROM topk.folded_days
WHERE (day, version) NOT IN (SELECT day, version FROM topk.day_versions WHERE holds)
UNION ALL
SELECT 'hour', hour, version, toInt8(1)
FROM topk.hour_versions
WHERE toStartOfDay(hour) NOT IN (SELECT day FROM topk.day_versions WHERE holds)
COMMENT 'which partitions are all time together, each with its sign'
