-- How many views arrived for each minute of [from, until), of all item types and replays included?
-- As counts_minute holds them, at a fraction of the cost; the two differ for moments, or where a view failed.
-- Parameters: slice; from, until (DateTime), whole minutes. Rows: minute, views.
SELECT toStartOfMinute(bucket) AS minute, sum(applied) AS views
FROM topk.topk_10s
WHERE slice = {slice:String} AND bucket >= {from:DateTime('UTC')} AND bucket < {until:DateTime('UTC')}
GROUP BY minute
