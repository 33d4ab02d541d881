-- Exact counts per hour, whatever was recounted how often: what analysts read.
-- A query sees the parts of a table as they were a moment before it asks the ledger. A recount counts here a second after it
-- is in the ledger, so that its rows are always among those parts.
CREATE VIEW topk.exact_hourly AS
SELECT hour, item_type, item_id, country, category, language, n
FROM topk.counts_hourly FINAL
WHERE (hour, version) IN
(
    SELECT hour, max(r.version) FROM topk.recounts AS r WHERE r.recounted_at <= now64(3) - INTERVAL 1 SECOND GROUP BY hour
)
SETTINGS do_not_merge_across_partitions_select_final = 1, defer_partition_pruning_after_final = 0
COMMENT 'exact counts per closed hour, each event once'
