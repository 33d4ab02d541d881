-- Which partitions does a table have?
-- Parameters: table. Rows: partition_id, newest second in it (event time).
SELECT partition_id, toDateTime(max(max_time), 'UTC') AS newest
FROM system.parts
WHERE database = 'topk' AND table = {table:String} AND active
GROUP BY partition_id
ORDER BY partition_id
