-- How many views did the summaries take in, replays included, minute by minute?
-- Parameters: slice; types: Array(String); from, until (DateTime). Rows: item_type, minute, views, rows of topk_10s.
SELECT item_type, toStartOfMinute(bucket) AS minute, sum(applied) AS views, count() AS blocks
FROM topk.topk_10s
WHERE slice = {slice:String} AND item_type IN {types:Array(String)}
  AND bucket >= {from:DateTime('UTC')} AND bucket < {until:DateTime('UTC')}
GROUP BY item_type, minute
