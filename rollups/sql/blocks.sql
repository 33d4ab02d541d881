-- Which summaries of ten seconds overlap [from, as_of)? Rows never change: what was read by a name before is the same.
-- Parameters: slice; types: Array(String); from, as_of (DateTime). Rows: block, how many items it holds.
SELECT block, length(items) AS items
FROM topk.topk_10s
WHERE slice = {slice:String} AND item_type IN {types:Array(String)}
  AND bucket > {from:DateTime('UTC')} - INTERVAL 10 SECOND AND bucket < {as_of:DateTime('UTC')}
