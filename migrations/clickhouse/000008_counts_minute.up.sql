-- Views per item, minute and dimensions: additive, so a replayed block is in it twice. A minute is read from here
-- only when its total equals the landed total of that minute. Written by counts_minute_mv.
-- Dropped with counts_second. Ordered by item first: a list
-- of an hour reads a few thousand items in all of its minutes. counts_second is ordered by second.
CREATE TABLE topk.counts_minute
(
    item_type LowCardinality(String) COMMENT 'video, hashtag, ...',
    item_id String COMMENT 'opaque bytes, compared exactly',
    minute DateTime('UTC') COMMENT 'event time, floored to the minute',
    country LowCardinality(String) COMMENT 'ISO 3166 alpha-2, empty when unknown',
    category LowCardinality(String) COMMENT 'empty when unknown',
    language LowCardinality(String) COMMENT 'primary BCP 47 subtag, empty when unknown',
    n SimpleAggregateFunction(sum, UInt64) COMMENT 'views'
)
ENGINE = AggregatingMergeTree
PARTITION BY toStartOfHour(minute)
ORDER BY (item_type, item_id, minute, country, category, language)
SETTINGS index_granularity = 1024, merge_selector_base = 30
COMMENT 'views per item and minute, replays included'
