-- How often was each candidate viewed in these whole minutes?
-- Types and candidates are a prefix of the primary key, so most granules of other items are not read.
-- Parameters: types, ids: Array(String), the item types and candidates of any of them; minutes: Array(DateTime). Rows: item_type,
-- item_id, views.
SELECT item_type, item_id, sum(n) AS views
FROM topk.counts_minute
WHERE item_type IN {types:Array(String)} AND item_id IN {ids:Array(String)}
  AND minute IN {minutes:Array(DateTime('UTC'))}
GROUP BY item_type, item_id
