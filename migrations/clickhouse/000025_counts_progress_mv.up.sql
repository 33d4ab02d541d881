-- counts_in -> ingest_progress.
CREATE MATERIALIZED VIEW topk.counts_progress_mv TO topk.ingest_progress AS
SELECT topic, partition, ingestor, max(offset) AS last_offset, max(c.watermark) AS watermark,
       max(sent_at) AS last_seen, max(c.partitions) AS partitions, max(c.closed) AS closed, now64(3) AS inserted_at
FROM topk.counts_in AS c
WHERE topic != '' AND fault IN ('', 'row')
GROUP BY topic, partition, ingestor
