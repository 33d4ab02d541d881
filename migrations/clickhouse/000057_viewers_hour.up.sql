-- viewers_minute added up to hours. Written by viewers_hour_mv, and by the rollup worker for the past of an item that is newly watched. Read by
-- it when it makes the lists of windows from a day on.
-- Grain: an item and an hour of event time.
-- Kept two days longer than raw events, as the longest window but all time begins with a whole day, dropped by the rollup worker.
-- Ordered by item, as it is asked, hence the small granules as well.
CREATE TABLE topk.viewers_hour
(
    item_type LowCardinality(String) COMMENT 'video, hashtag, ...',
    item_id String COMMENT 'opaque bytes, compared exactly',
    hour DateTime('UTC') COMMENT 'start of the hour of event time',
    viewers AggregateFunction(uniqCombined(12), String) COMMENT 'as in viewers_minute'
)
ENGINE = AggregatingMergeTree
PARTITION BY toDate(hour)
ORDER BY (item_type, item_id, hour)
SETTINGS index_granularity = 128
COMMENT 'viewers of watched items by hour'
