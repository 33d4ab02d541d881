-- Kafka topk.counts.v1, combined counts. Read by counts_queue_mv alone, never by hand.
-- Types are exactly those in the messages (RowBinaryWithNamesAndTypes), hence plain String.
-- The named collection topk_kafka holds kafka_broker_list: it belongs to the configuration of the server, not to the schema.
CREATE TABLE topk.counts_queue
(
    item_type String,
    item_id String,
    country String,
    category String,
    language String,
    second DateTime('UTC'),
    n UInt64,
    ingestor String,
    sequence UInt64
)
ENGINE = Kafka(topk_kafka)
SETTINGS kafka_topic_list = 'topk.counts.v1', kafka_group_name = 'topk-counts',
         kafka_format = 'RowBinaryWithNamesAndTypes', kafka_handle_error_mode = 'stream', kafka_num_consumers = 1,
         kafka_flush_interval_ms = 500, kafka_poll_timeout_ms = 100, kafka_max_block_size = 1048576
COMMENT 'Kafka topk.counts.v1'
