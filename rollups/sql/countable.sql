-- How many views of all item types does counts_minute hold of these minutes?
-- Parameters: buckets: Array(DateTime), the minutes. Rows: minute, views.
SELECT minute, sum(n) AS views
FROM topk.counts_minute
WHERE minute IN {buckets:Array(DateTime('UTC'))}
GROUP BY minute
