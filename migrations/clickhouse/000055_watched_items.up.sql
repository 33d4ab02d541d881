-- The items whose viewers are counted: those that are in a list, or would be but for few viewers. Written by the rollup worker when it is
-- started with a least number of viewers, else empty. Read by viewers_minute_mv with every block of events, and by a worker that takes over.
-- Grain: an item in a version. The newest version is read: it is written whole, what comes to it later is added, and so is an item again once
-- its states reach further back.
-- Kept an hour by the wall clock, renewed by then while it is wanted.
-- Ordered as it is asked.
CREATE TABLE topk.watched_items
(
    version UInt64 COMMENT 'epoch microseconds when the version was begun',
    item_type LowCardinality(String) COMMENT 'video, hashtag, ...',
    item_id String COMMENT 'opaque bytes, compared exactly',
    minutes_since DateTime('UTC') DEFAULT toDateTime(4294967295, 'UTC') COMMENT 'viewers_minute holds all its viewers from then on, the least of its rows counts',
    hours_since DateTime('UTC') DEFAULT toDateTime(4294967295, 'UTC') COMMENT 'the same of viewers_hour',
    made DateTime('UTC') DEFAULT now() COMMENT 'wall clock of ClickHouse'
)
ENGINE = MergeTree
PARTITION BY toStartOfTenMinutes(made)
ORDER BY (version, item_type, item_id)
TTL made + INTERVAL 1 HOUR
SETTINGS ttl_only_drop_parts = 1
COMMENT 'items whose viewers are counted'
