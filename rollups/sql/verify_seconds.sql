-- How often was each candidate viewed in [from, until), and all items together?
-- Each combined row counts once, whatever was replayed.
-- Both come from one snapshot of the parts. The set of candidates is a prefix of the primary key.
-- Parameters: types, ids: Array(String) of equal length, the candidates; from, until (DateTime); totals: Array(String),
-- item types whose total is asked. Rows: item_type, item_id, views; the total of a type has an empty item_id.
SELECT item_type, item_id, sum(n) AS views
FROM topk.counts_second FINAL
WHERE (item_type, item_id) IN (SELECT arrayJoin(arrayZip({types:Array(String)}, {ids:Array(String)})) AS candidate)
  AND second >= {from:DateTime('UTC')} AND second < {until:DateTime('UTC')}
GROUP BY item_type, item_id
UNION ALL
SELECT item_type, '' AS item_id, sum(n) AS views
FROM topk.counts_second FINAL
WHERE item_type IN {totals:Array(String)} AND second >= {from:DateTime('UTC')} AND second < {until:DateTime('UTC')}
GROUP BY item_type
