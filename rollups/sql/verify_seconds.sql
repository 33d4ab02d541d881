-- How often was each candidate viewed in [from, until), and all items together?
-- Each combined row counts once, whatever was replayed.
-- Both come from one snapshot of the parts. The key is type, second, item: few granules of each second are read.
-- Parameters: types, ids: Array(String), the item types and candidates of any of them; from, until (DateTime); totals: Array(String),
-- item types whose total is asked. Rows: item_type, item_id, views; the total of a type has an empty item_id.
SELECT item_type, item_id, sum(n) AS views
FROM topk.counts_second FINAL
WHERE item_type IN {types:Array(String)} AND item_id IN {ids:Array(String)}
  AND second >= {from:DateTime('UTC')} AND second < {until:DateTime('UTC')}
GROUP BY item_type, item_id
UNION ALL
SELECT item_type, '' AS item_id, sum(n) AS views
FROM topk.counts_second FINAL
WHERE item_type IN {totals:Array(String)} AND second >= {from:DateTime('UTC')} AND second < {until:DateTime('UTC')}
GROUP BY item_type
