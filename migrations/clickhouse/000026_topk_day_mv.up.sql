-- topk_hour -> topk_day: what one insert brought is merged, so an hour holds the views of every minute once.
CREATE MATERIALIZED VIEW topk.topk_day_mv TO topk.topk_day AS
SELECT item_type, slice, toStartOfDay(s.bucket) AS bucket,
       topKWeightedMergeState(10000, 1, 'counts')(s.items) AS items, sum(s.applied) AS applied
FROM topk.topk_hour AS s
GROUP BY item_type, slice, bucket
