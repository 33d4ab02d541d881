-- How many distinct events are in [from, until) as a whole? An event that is in several of its seconds is one here.
-- Parameters: types: Array(String); from, until (DateTime); untimed: 1 for only those without a time of their own, 0 for all.
-- Rows: item_type, arrived: events, repeats included; events: distinct ones.
SELECT item_type, sum(length(identities)) AS arrived, uniqExactArray(identities) AS events
FROM topk.event_identities FINAL
WHERE item_type IN {types:Array(String)} AND second >= {from:DateTime('UTC')} AND second < {until:DateTime('UTC')}
  AND (stamped = 1 OR {untimed:UInt8} = 0)
GROUP BY item_type
