-- How far each partition has been read, a row a block and ingestor. Written by counts_progress_mv and
-- events_progress_mv, read by the rollup worker through the query rollups/sql/progress.sql.
-- Views of one block become visible one after another, so the row of a block proves nothing about its counts. The
-- block is whole once the consumer group has committed its offsets: readers leave out rows that lie behind those. That is
-- why rows stay per block.
-- Ordered by partition, then offset: the order of its blocks.
-- Kept a day on the wall clock, in which the newest hour is what is read.
CREATE TABLE topk.ingest_progress
(
    topic LowCardinality(String) COMMENT 'Kafka topic',
    partition UInt32 COMMENT 'Kafka partition',
    ingestor LowCardinality(String) COMMENT 'unique to a process start: name@start',
    last_offset Int64 COMMENT 'greatest offset of that ingestor in the block',
    watermark DateTime64(3, 'UTC') COMMENT 'every event of this ingestor before it is in this block or an earlier one',
    last_seen DateTime64(3, 'UTC') COMMENT 'newest record timestamp, wall clock of the sender',
    partitions UInt32 COMMENT 'partitions the topic had: fewer here means one is missing',
    closed UInt8 COMMENT '1 when the ingestor stopped by itself: it holds nothing back any more',
    inserted_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'wall clock of ClickHouse'
)
ENGINE = ReplacingMergeTree
PARTITION BY toStartOfHour(inserted_at)
ORDER BY (topic, partition, last_offset, ingestor)
TTL toDateTime(inserted_at) + INTERVAL 1 DAY
COMMENT 'watermarks per topic, partition and ingestor'
