-- events_in -> ingest_progress.
CREATE MATERIALIZED VIEW topk.events_progress_mv TO topk.ingest_progress AS
SELECT topic, partition, ingestor, max(offset) AS last_offset, max(e.watermark) AS watermark,
       max(sent_at) AS last_seen, max(e.partitions) AS partitions, max(e.closed) AS closed, now64(3) AS inserted_at
FROM topk.events_in AS e
WHERE topic != '' AND fault IN ('', 'row')
GROUP BY topic, partition, ingestor
