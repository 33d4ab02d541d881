-- Kafka topk.events.v1, single events. Read by events_queue_mv alone, never by hand.
CREATE TABLE topk.events_queue
(
    event_id String,
    item_type String,
    item_id String,
    event_time DateTime64(3, 'UTC'),
    country String,
    category String,
    language String,
    viewer String,
    flags Array(String),
    ingestor String
)
ENGINE = Kafka(topk_kafka)
SETTINGS kafka_topic_list = 'topk.events.v1', kafka_group_name = 'topk-events',
         kafka_format = 'RowBinaryWithNamesAndTypes', kafka_handle_error_mode = 'stream', kafka_num_consumers = 1,
         kafka_flush_interval_ms = 500, kafka_poll_timeout_ms = 100, kafka_max_block_size = 1048576
COMMENT 'Kafka topk.events.v1'
