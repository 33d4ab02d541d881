-- How many events arrived for each second of [from, until), repeats included and each message once? Only the lengths of
-- arrays are read.
-- Parameters: types: Array(String); from, until (DateTime). Rows: item_type, second, events.
SELECT item_type, second, sum(length(identities)) AS events
FROM topk.event_identities FINAL
WHERE item_type IN {types:Array(String)} AND second >= {from:DateTime('UTC')} AND second < {until:DateTime('UTC')}
GROUP BY item_type, second
