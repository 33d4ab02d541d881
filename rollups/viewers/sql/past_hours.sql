-- Count the viewers of items from raw events, by hour, for what came before they were watched.
-- Parameters: type: item type; ids: Array(String); from, until: DateTime, starts of hours.
INSERT INTO topk.viewers_hour (item_type, item_id, hour, viewers)
SELECT item_type, item_id, toStartOfHour(toDateTime(event_time, 'UTC')) AS hour, uniqCombinedState(12)(viewer)
FROM topk.events
WHERE item_type = {type:String} AND item_id IN {ids:Array(String)}
  AND event_time >= {from:DateTime('UTC')} AND event_time < {until:DateTime('UTC')} AND empty(flags)
GROUP BY item_type, item_id, hour
