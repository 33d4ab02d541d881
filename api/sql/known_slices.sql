-- Which slices have had views, and when last? Asked once a minute, and once for a crowd of requests for others.
-- Rows that no ledger names may be among them: a slice is then taken for one that has views until its list says that it has none.
-- Parameters: since (DateTime), a whole minute from which on minutes are looked at; most: how many.
-- Rows: item_type, slice, last: the start of a minute, or of a closed hour or day; 2100 for one that
-- is in the total, which does not say when.
SELECT item_type, slice, max(at) AS last
FROM
(
    SELECT item_type, toString(slice) AS slice, minute AS at
    FROM topk.slice_minutes
    WHERE minute >= {since:DateTime('UTC')}
    UNION ALL
    SELECT item_type, toString(slice), if(part = 'total', toDateTime('2100-01-01 00:00:00', 'UTC'), bucket)
    FROM topk.slice_heads
    WHERE slice != ''
)
GROUP BY item_type, slice
LIMIT {most:UInt32}
