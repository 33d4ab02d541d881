-- Which item types have been counted lately, busiest first?
-- Parameters: slice; since, until (DateTime); types: how many at most. Rows: item_type.
SELECT item_type
FROM topk.topk_10s
WHERE slice = {slice:String} AND bucket >= {since:DateTime('UTC')} AND bucket < {until:DateTime('UTC')}
GROUP BY item_type
ORDER BY sum(applied) DESC, item_type
LIMIT {types:UInt32}
