-- How often was each candidate viewed in these whole minutes?
-- The set of candidates is a prefix of the primary key, so the granules of other items are not read.
-- Parameters: types, ids: Array(String) of equal length, the candidates; minutes: Array(DateTime). Rows: item_type,
-- item_id, views.
SELECT item_type, item_id, sum(n) AS views
FROM topk.counts_minute
WHERE (item_type, item_id) IN (SELECT arrayJoin(arrayZip({types:Array(String)}, {ids:Array(String)})) AS candidate)
  AND minute IN {minutes:Array(DateTime('UTC'))}
GROUP BY item_type, item_id
