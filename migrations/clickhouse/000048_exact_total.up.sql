-- Exact counts of all time: what analysts read. Sum n: an item may be in several rows, some of them negative.
-- For a single answer in a script, stop recounts first: the parts of the three tables and the ledgers are seen one after another.
CREATE VIEW topk.exact_total AS
SELECT item_type, item_id, country, category, language, toInt64(n) AS n
FROM topk.counts_total FINAL
WHERE version IN (SELECT version FROM topk.total_parts WHERE part = 'total')
UNION ALL
SELECT item_type, item_id, country, category, language, toInt64(n)
FROM topk.counts_daily FINAL
WHERE (day, version) IN (SELECT bucket, version FROM topk.total_parts WHERE part = 'day' AND sign = 1)
UNION ALL
SELECT item_type, item_id, country, category, language, -toInt64(n)
FROM topk.counts_daily FINAL
WHERE (day, version) IN (SELECT bucket, version FROM topk.total_parts WHERE part = 'day' AND sign = -1)
UNION ALL
SELECT item_type, item_id, country, category, language, toInt64(n)
FROM topk.counts_hourly FINAL
WHERE (hour, version) IN (SELECT bucket, version FROM topk.total_parts WHERE part = 'hour')
COMMENT 'exact counts of all time: sum n'
