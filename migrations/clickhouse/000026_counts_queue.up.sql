-- Kafka topk.counts.v1, combined counts. Read by counts_queue_mv alone, never by hand.
-- Grain: one row a message, whose combined rows are arrays of one length. Ten virtual columns are filled for each row read,
-- which costs more than everything behind the queue when each count is a row.
-- Types are exactly those in the messages (RowBinaryWithNamesAndTypes), hence plain String.
-- The named collection topk_kafka holds kafka_broker_list: it belongs to the configuration of the server, not to the schema.
-- A block ends at 16 messages, two for each of eight partitions, or after 0.9 s: what waits there at once is then less than 15 MB. A
-- flush of an ingestor that ends a second has two messages a partition and so ends the block, others wait for it, since no list moves
-- before. With fewer partitions lists are later by up to 0.9 s, with more a block may end within a flush, which costs a block more.
-- kafka_consumer_reschedule_ms: a consumer that found its partitions empty sleeps that long, by default 500 ms, which a list
-- would wait for twice.
CREATE TABLE topk.counts_queue
(
    item_type Array(String),
    item_id Array(String),
    country Array(String),
    category Array(String),
    language Array(String),
    second Array(DateTime('UTC')),
    n Array(UInt64),
    ingestor String,
    sequence UInt64
)
ENGINE = Kafka(topk_kafka)
SETTINGS kafka_topic_list = 'topk.counts.v1', kafka_group_name = 'topk-counts',
         kafka_format = 'RowBinaryWithNamesAndTypes', kafka_handle_error_mode = 'stream', kafka_num_consumers = 1,
         kafka_flush_interval_ms = 900, kafka_poll_timeout_ms = 50, kafka_consumer_reschedule_ms = 10, kafka_max_block_size = 16
COMMENT 'Kafka topk.counts.v1'
