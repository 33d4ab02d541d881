-- Which slices have had views lately, and in which minute last? Asked once a minute, and once for a crowd of requests for others.
-- Rows that no ledger names may be among them: a slice is then taken for one that has views until its list says that it has none.
-- Parameters: since (DateTime), a whole minute; most: how many. Rows: item_type, slice, last: the start of the minute.
SELECT item_type, slice, max(minute) AS last
FROM topk.slice_minutes
WHERE minute >= {since:DateTime('UTC')}
GROUP BY item_type, slice
LIMIT {most:UInt32}
