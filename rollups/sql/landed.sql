-- How many views landed in each second of [from, until), each message once, and from which messages?
-- Parameters: types: Array(String); from, until (DateTime). Rows: item_type, second, views, print: the fingerprint of their
-- messages, by_hand: views written by hand, which are not among them.
SELECT item_type, second, sum(n) AS views, sum(n * topk_message_hash(ingestor, sequence)) AS print, sum(by_hand) AS hand
FROM topk.landed FINAL
WHERE item_type IN {types:Array(String)} AND second >= {from:DateTime('UTC')} AND second < {until:DateTime('UTC')}
GROUP BY item_type, second
