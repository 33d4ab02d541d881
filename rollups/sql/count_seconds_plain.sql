-- How often was each of these items viewed in each of these seconds, and all others together? And what had landed in them?
-- Replayed rows count again: the answer is used only where its fingerprint is that of landed, which spares FINAL.
-- Items and totals come from one scan, so they are of one moment. All of a second is read: it lies in one piece.
-- Parameters: types, ids: Array(String), the item types, and items of any of them; seconds: Array(DateTime).
-- Rows: item_type, item_id (empty: all other items together), second, views, print: the fingerprint of their messages,
-- landed: 1 for a row of landed, by_hand as in landed.sql.
SELECT item_type, if(item_id IN {ids:Array(String)}, item_id, '') AS id, second, sum(n) AS views,
       sum(n * topk_message_hash(ingestor, sequence)) AS print, 0 AS landed, toUInt64(0) AS hand
FROM topk.counts_second
WHERE item_type IN {types:Array(String)} AND second IN {seconds:Array(DateTime('UTC'))}
GROUP BY item_type, id, second
UNION ALL
SELECT item_type, '' AS id, second, sum(n) AS views,
       sum(n * topk_message_hash(ingestor, sequence)) AS print, 1 AS landed, sum(by_hand) AS hand
FROM topk.landed FINAL
WHERE item_type IN {types:Array(String)} AND second IN {seconds:Array(DateTime('UTC'))}
GROUP BY item_type, second
