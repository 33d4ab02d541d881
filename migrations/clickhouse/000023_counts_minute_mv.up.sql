-- counts_in -> counts_minute.
CREATE MATERIALIZED VIEW topk.counts_minute_mv TO topk.counts_minute AS
SELECT item_type, item_id, toStartOfMinute(second) AS minute, country, category, language, sum(c.n) AS n
FROM topk.counts_in AS c
WHERE valid = 1
GROUP BY item_type, item_id, minute, country, category, language
