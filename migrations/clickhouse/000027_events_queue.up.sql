-- Kafka topk.events.v1, single events. Read by events_queue_mv alone, never by hand.
-- Grain: one row a message, whose events are arrays of one length, as in counts_queue.
-- kafka_consumer_reschedule_ms: a consumer that found its partitions empty sleeps that long, by default 500 ms, which a list
-- would wait for twice. Blocks end as in counts_queue.
CREATE TABLE topk.events_queue
(
    event_id Array(String),
    item_type Array(String),
    item_id Array(String),
    event_time Array(DateTime64(3, 'UTC')),
    country Array(String),
    category Array(String),
    language Array(String),
    viewer Array(String),
    flags Array(Array(String)),
    stamped Array(UInt8),
    ingestor String
)
ENGINE = Kafka(topk_kafka)
SETTINGS kafka_topic_list = 'topk.events.v1', kafka_group_name = 'topk-events',
         kafka_format = 'RowBinaryWithNamesAndTypes', kafka_handle_error_mode = 'stream', kafka_num_consumers = 1,
         kafka_flush_interval_ms = 900, kafka_poll_timeout_ms = 50, kafka_consumer_reschedule_ms = 10, kafka_max_block_size = 16
COMMENT 'Kafka topk.events.v1'
