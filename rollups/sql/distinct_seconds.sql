-- How many distinct events are in each of these seconds? What landed in a second beyond them was sent more than once.
-- Parameters: types: Array(String); seconds: Array(DateTime). Rows: item_type, second, arrived: events, repeats included
-- and each message once; events: distinct ones; of those without a time of their own the same two; ahead: distinct ones whose own time
-- was too far ahead.
SELECT item_type, second, sum(length(identities)) AS arrived, uniqExactArray(identities) AS events,
       sumIf(length(identities), stamped = 1) AS untimed_arrived, uniqExactArrayIf(identities, stamped = 1) AS untimed,
       uniqExactArrayIf(identities, stamped > 1) AS ahead
FROM topk.event_identities FINAL
WHERE item_type IN {types:Array(String)} AND second IN {seconds:Array(DateTime('UTC'))}
GROUP BY item_type, second
