-- How many views does counts_minute hold, minute by minute? A minute is used when this equals what landed.
-- Parameters: types: Array(String); from, until (DateTime). Rows: item_type, minute, views.
SELECT item_type, minute, sum(n) AS views
FROM topk.counts_minute
WHERE item_type IN {types:Array(String)} AND minute >= {from:DateTime('UTC')} AND minute < {until:DateTime('UTC')}
GROUP BY item_type, minute
