-- How often was each of these few items viewed in each of these seconds?
-- The key is type, second, item: few granules of each second are read.
-- Parameters: types, ids: Array(String), the item types, and items of any of them; seconds: Array(DateTime). Rows: item_type,
-- item_id, second, views.
SELECT item_type, item_id, second, sum(n) AS views
FROM topk.counts_second FINAL
WHERE item_type IN {types:Array(String)} AND item_id IN {ids:Array(String)} AND second IN {seconds:Array(DateTime('UTC'))}
GROUP BY item_type, item_id, second
