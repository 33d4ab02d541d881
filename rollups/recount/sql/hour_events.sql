-- How many events does every hour hold, in each version that is there?
-- Rows: hour, version, events.
SELECT hour, version, sum(n)
FROM topk.counts_hourly FINAL
GROUP BY hour, version
