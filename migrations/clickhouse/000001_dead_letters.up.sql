-- Messages that could not be read, or that hold a value no ingestor sends.
-- Written by counts_dead_letters_mv and events_dead_letters_mv, read by operators.
-- Grain: one row a message (or a bad row of one). Kept 30 days on the wall clock.
-- Ordered by arrival: the question is always "what came lately".
CREATE TABLE topk.dead_letters
(
    received_at DateTime64(3, 'UTC') COMMENT 'record timestamp, wall clock',
    topic LowCardinality(String) COMMENT 'Kafka topic',
    partition UInt32 COMMENT 'Kafka partition',
    offset Int64 COMMENT 'Kafka offset',
    raw String COMMENT 'the first 64 KiB of the message as it came, or the bad row as JSON',
    error String COMMENT 'what was wrong'
)
ENGINE = MergeTree
ORDER BY (received_at, topic, partition, offset)
TTL toDateTime(received_at) + INTERVAL 30 DAY
COMMENT 'messages that could not be counted, with the reason'
