-- Count the viewers of items from raw events, by minute, for what came before they were watched. States hold a viewer once however often
-- this runs, and the hours follow by their view.
-- Parameters: type: item type; ids: Array(String); from, until: DateTime, starts of minutes.
INSERT INTO topk.viewers_minute (item_type, item_id, minute, viewers)
SELECT item_type, item_id, toStartOfMinute(toDateTime(event_time, 'UTC')) AS minute, uniqCombinedState(12)(viewer)
FROM topk.events
WHERE item_type = {type:String} AND item_id IN {ids:Array(String)}
  AND event_time >= {from:DateTime('UTC')} AND event_time < {until:DateTime('UTC')} AND empty(flags)
GROUP BY item_type, item_id, minute
