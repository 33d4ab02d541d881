-- Raw events: the truth that recounts, charts and grades are worked out from. Written by events_mv,
-- read by the rollup worker.
-- Grain: one row an identity (item, hour of event_time, event_id), FINAL removes repeats that no merge has met.
-- Kept 30 days of event time: the rollup worker drops whole hours (a TTL would follow the wall clock and
-- delete replayed history at once).
-- Ordered by identity, items first: a recount groups by item, and equal keys must meet in one partition, so the
-- hour that partitions is part of the key.
-- Each row keeps the block that brought it (_block_number): which events came after the recount of their hour.
CREATE TABLE topk.events
(
    event_id String COMMENT 'chosen by the client, a retry repeats it',
    item_type LowCardinality(String) COMMENT 'video, hashtag, ...',
    item_id String COMMENT 'opaque bytes, compared exactly',
    event_time DateTime64(3, 'UTC') COMMENT 'when it was viewed' CODEC(Delta, ZSTD(1)),
    country LowCardinality(String) COMMENT 'ISO 3166 alpha-2, empty when unknown',
    category LowCardinality(String) COMMENT 'empty when unknown',
    language LowCardinality(String) COMMENT 'primary BCP 47 subtag, empty when unknown',
    viewer String COMMENT 'opaque, empty when unknown',
    flags Array(LowCardinality(String)) COMMENT 'a flagged event is kept and never counted',
    stamped UInt8 COMMENT 'whose clock gave event_time, as in events_in',
    ingestor LowCardinality(String) COMMENT 'who accepted it: name@start',
    received_at DateTime64(3, 'UTC') COMMENT 'when its flush was sent, wall clock' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toStartOfHour(event_time)
ORDER BY (item_type, item_id, toStartOfHour(event_time), event_id)
SETTINGS merge_selector_base = 60, enable_block_number_column = 1
COMMENT 'raw events, one row an identity after FINAL'
