-- How many viewers had these items since a minute?
-- Parameters: type: item type; ids: Array(String); from: DateTime, the start of a minute. Rows: item_id, viewers; none of an item without
-- states.
SELECT item_id, uniqCombinedMerge(12)(viewers) AS found
FROM topk.viewers_minute
WHERE item_type = {type:String} AND item_id IN {ids:Array(String)} AND minute >= {from:DateTime('UTC')}
GROUP BY item_id
