-- How many viewers a watched item had in a minute, as states: the same viewer twice, or an event replayed, changes none. Written by
-- viewers_minute_mv from the block on that comes after an item was watched, and by the rollup worker for what came before. Read by it when
-- it makes the lists of windows up to an hour.
-- Grain: an item and a minute of event time, events without a viewer have one together.
-- Kept as long as counts_second, dropped by the rollup worker, hours at a time.
-- Ordered by item, as it is asked. States are large, hence the small granules.
CREATE TABLE topk.viewers_minute
(
    item_type LowCardinality(String) COMMENT 'video, hashtag, ...',
    item_id String COMMENT 'opaque bytes, compared exactly',
    minute DateTime('UTC') COMMENT 'start of the minute of event time',
    viewers AggregateFunction(uniqCombined(12), String) COMMENT 'distinct viewers, exact while they are few, within 1.6 % else'
)
ENGINE = AggregatingMergeTree
PARTITION BY toStartOfHour(minute)
ORDER BY (item_type, item_id, minute)
SETTINGS index_granularity = 128
COMMENT 'viewers of watched items by minute'
