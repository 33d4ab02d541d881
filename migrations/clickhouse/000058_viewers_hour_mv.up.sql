-- viewers_minute -> viewers_hour.
CREATE MATERIALIZED VIEW topk.viewers_hour_mv TO topk.viewers_hour AS
SELECT item_type, item_id, toStartOfHour(minute) AS hour, uniqCombinedMergeState(12)(m.viewers) AS viewers
FROM topk.viewers_minute AS m
GROUP BY item_type, item_id, hour
