-- counts_in -> topk_10s.
CREATE MATERIALIZED VIEW topk.topk_10s_mv TO topk.topk_10s AS
SELECT item_type, 'global' AS slice, toStartOfInterval(second, INTERVAL 10 SECOND) AS bucket,
       topKWeightedState(10000, 1, 'counts')(item_id, n) AS items, sum(n) AS applied
FROM topk.counts_in
WHERE n > 0
GROUP BY item_type, slice, bucket
