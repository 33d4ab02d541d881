-- Exact counts per closed day (UTC): what analysts read. A day is missing while one of its hours was recounted and the sum is
-- not made anew: exact_hourly has it. A new sum counts here after a second, as in exact_hourly.
CREATE VIEW topk.exact_daily AS
SELECT day, item_type, item_id, country, category, language, n
FROM topk.counts_daily FINAL
WHERE (day, version) IN
(
    SELECT day, version FROM topk.day_versions WHERE holds AND recounted_at <= now64(3) - INTERVAL 1 SECOND
)
SETTINGS do_not_merge_across_partitions_select_final = 1, defer_partition_pruning_after_final = 0
COMMENT 'exact counts per closed day (UTC)'
