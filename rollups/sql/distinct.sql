-- How many distinct events are in [from, until)? What landed beyond them was sent more than once.
-- Parameters: types: Array(String); from, until (DateTime). Rows: item_type, events.
SELECT item_type, uniqExact(identity) AS events
FROM topk.event_identities
WHERE item_type IN {types:Array(String)} AND second >= {from:DateTime('UTC')} AND second < {until:DateTime('UTC')}
GROUP BY item_type
