-- How many viewers had these items since an hour?
-- Parameters: type: item type; ids: Array(String); from: DateTime, the start of an hour. Rows: item_id, viewers; none of an item without
-- states.
SELECT item_id, uniqCombinedMerge(12)(viewers) AS found
FROM topk.viewers_hour
WHERE item_type = {type:String} AND item_id IN {ids:Array(String)} AND hour >= {from:DateTime('UTC')}
GROUP BY item_id
