-- How many events arrived for each second of [from, until), repeats included and each message once?
-- Parameters: types: Array(String); from, until (DateTime). Rows: item_type, second, arrived.
SELECT item_type, second, sum(e.events) AS arrived
FROM topk.event_identities AS e FINAL
WHERE item_type IN {types:Array(String)} AND second >= {from:DateTime('UTC')} AND second < {until:DateTime('UTC')}
GROUP BY item_type, second
