-- topk_minute -> topk_hour: what one insert brought is merged, so an hour holds the views of every minute once.
CREATE MATERIALIZED VIEW topk.topk_hour_mv TO topk.topk_hour AS
SELECT item_type, slice, toStartOfHour(s.bucket) AS bucket,
       topKWeightedMergeState(10000, 1, 'counts')(s.items) AS items, sum(s.applied) AS applied
FROM topk.topk_minute AS s
GROUP BY item_type, slice, bucket
