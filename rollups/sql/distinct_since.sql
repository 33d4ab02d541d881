-- How many events of [since, until) are distinct and not already in [from, since)? Far cheaper than counting the whole
-- range again: only the new identities are held in memory, and the older ones are looked up in them.
-- Parameters: types: Array(String); from, since, until (DateTime). Rows: item_type, events, repeated (also in [from, since)).
WITH fresh AS
(
    SELECT DISTINCT item_type, identity FROM topk.event_identities
    WHERE item_type IN {types:Array(String)} AND second >= {since:DateTime('UTC')} AND second < {until:DateTime('UTC')}
)
SELECT item_type, uniqExactIf(identity, second >= {since:DateTime('UTC')}) AS events,
       uniqExactIf(identity, second < {since:DateTime('UTC')}) AS repeated
FROM topk.event_identities
WHERE item_type IN {types:Array(String)} AND second >= {from:DateTime('UTC')} AND second < {until:DateTime('UTC')}
  AND (item_type, identity) IN (SELECT item_type, identity FROM fresh)
GROUP BY item_type
