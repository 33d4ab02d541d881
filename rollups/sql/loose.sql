-- Which summaries arrived for each whole bucket of [from, until)?
-- Parameters: slice; from, until (DateTime); length: of a bucket, seconds. Rows: item_type, start: of the bucket, blocks: their names.
SELECT item_type, toStartOfInterval(bucket, toIntervalSecond({length:UInt32})) AS start, groupArray(block) AS blocks
FROM topk.topk_10s
WHERE slice = {slice:String} AND bucket >= {from:DateTime('UTC')} AND bucket < {until:DateTime('UTC')}
GROUP BY item_type, start
