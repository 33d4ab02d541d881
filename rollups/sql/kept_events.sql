-- Which hours are raw events kept of?
-- Parameters: from, until (DateTime), starts of hours. Rows: one, of the first such hour and how many rows there are in all.
SELECT min(toDateTime(partition, 'UTC')) AS first, sum(rows) AS events
FROM system.parts
WHERE database = 'topk' AND table = 'events' AND active AND rows > 0
  AND toDateTime(partition, 'UTC') >= {from:DateTime('UTC')} AND toDateTime(partition, 'UTC') < {until:DateTime('UTC')}
