-- How many views had these items in a time, each event once? Flagged events are none.
-- Parameters: type: item type; ids: Array(String); from, until: DateTime. Rows: item_id, views; none of an item without views.
SELECT item_id, uniqExact(toStartOfHour(event_time), event_id) AS views
FROM topk.events
WHERE item_type = {type:String} AND item_id IN {ids:Array(String)}
  AND event_time >= {from:DateTime('UTC')} AND event_time < {until:DateTime('UTC')} AND empty(flags)
GROUP BY item_id
