-- counts_in -> topk_minute.
CREATE MATERIALIZED VIEW topk.topk_minute_mv TO topk.topk_minute AS
SELECT item_type, 'global' AS slice, toStartOfMinute(second) AS bucket,
       topKWeightedState(10000, 1, 'counts')(item_id, n) AS items, sum(n) AS applied
FROM topk.counts_in
WHERE n > 0
GROUP BY item_type, slice, bucket
