-- How far has each partition been read, ingestor by ingestor, in whole blocks?
-- A block is whole once its offsets are committed: until then some view may not have it.
-- Parameters: range: seconds of blocks to look at; topics: Array(String), partitions, offsets: Array(UInt64), of equal length: the first
-- offset of each partition that is not committed. Rows: topic, partition, ingestor (name@start), watermark, last seen, closed,
-- partitions of the topic, greatest offset.
SELECT topic, partition, ingestor, max(p.watermark) AS watermark, max(p.last_seen) AS last_seen,
       argMax(p.closed, p.last_offset) AS closed, max(p.partitions) AS partitions, max(p.last_offset) AS last_offset
FROM topk.ingest_progress AS p
INNER JOIN
(
    SELECT tupleElement(c, 1) AS topic, toUInt32(tupleElement(c, 2)) AS partition, tupleElement(c, 3) AS offset
    FROM (SELECT arrayJoin(arrayZip({topics:Array(String)}, {partitions:Array(UInt64)}, {offsets:Array(UInt64)})) AS c)
) AS committed USING (topic, partition)
WHERE p.inserted_at >= now64(3) - toIntervalSecond({range:UInt32}) AND p.last_offset < toInt64(committed.offset)
GROUP BY topic, partition, ingestor
