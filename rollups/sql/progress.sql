-- How far has each partition been read, ingestor by ingestor, in whole blocks?
-- A block counts once some block of its partition starts after it: the reader moved on, so every view has it.
-- Parameters: range: seconds of blocks to look at. Rows: topic, partition, ingestor (name@start), watermark, last seen, closed,
-- partitions of the topic, greatest offset.
SELECT topic, partition, ingestor, max(p.watermark) AS watermark, max(p.last_seen) AS last_seen,
       argMax(p.closed, p.last_offset) AS closed, max(p.partitions) AS partitions, max(p.last_offset) AS last_offset
FROM topk.ingest_progress AS p
INNER JOIN
(
    SELECT topic, partition, max(first_offset) AS started
    FROM topk.ingest_progress
    WHERE inserted_at >= now64(3) - toIntervalSecond({range:UInt32})
    GROUP BY topic, partition
) AS newest USING (topic, partition)
WHERE p.inserted_at >= now64(3) - toIntervalSecond({range:UInt32}) AND p.last_offset < newest.started
GROUP BY topic, partition, ingestor
