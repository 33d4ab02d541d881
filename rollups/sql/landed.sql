-- How many views landed in [from, until), minute by minute, each message once?
-- Parameters: types: Array(String); from, until (DateTime). Rows: item_type, minute, views of the part inside.
SELECT item_type, toStartOfMinute(second) AS minute, sum(n) AS views
FROM topk.landed FINAL
WHERE item_type IN {types:Array(String)} AND second >= {from:DateTime('UTC')} AND second < {until:DateTime('UTC')}
GROUP BY item_type, minute
