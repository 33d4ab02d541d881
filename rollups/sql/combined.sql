-- Which combined summaries are there of whole buckets in [from, until), and what do they stand for?
-- Rows of summaries never change, so what is read by these names later is the same, whenever it is read.
-- Parameters: table; slice; from, until (DateTime). Rows: item_type, bucket, block, absorbed, applied.
SELECT item_type, bucket, block, absorbed, applied
FROM topk.{table:Identifier}
WHERE slice = {slice:String} AND bucket >= {from:DateTime('UTC')} AND bucket < {until:DateTime('UTC')}
