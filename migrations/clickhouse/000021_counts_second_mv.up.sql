-- counts_in -> counts_second.
CREATE MATERIALIZED VIEW topk.counts_second_mv TO topk.counts_second AS
SELECT item_type, item_id, second, country, category, language, ingestor, sequence, n
FROM topk.counts_in
WHERE valid = 1
