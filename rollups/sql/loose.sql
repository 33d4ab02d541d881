-- Which summaries arrived for each whole minute of [from, until)?
-- Parameters: slice; from, until (DateTime). Rows: item_type, minute, blocks: their names.
SELECT item_type, toStartOfMinute(bucket) AS minute, groupArray(block) AS blocks
FROM topk.topk_10s
WHERE slice = {slice:String} AND bucket >= {from:DateTime('UTC')} AND bucket < {until:DateTime('UTC')}
GROUP BY item_type, minute
