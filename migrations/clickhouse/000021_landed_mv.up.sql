-- counts_in -> landed, rows from Kafka only.
CREATE MATERIALIZED VIEW topk.landed_mv TO topk.landed AS
SELECT item_type, second, ingestor, sequence, sum(c.n) AS n
FROM topk.counts_in AS c
WHERE valid = 1 AND topic != ''
GROUP BY item_type, second, ingestor, sequence
