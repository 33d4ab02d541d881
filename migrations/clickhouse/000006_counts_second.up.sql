-- Landed counts: each combined row once, whatever was replayed. Written by counts_second_mv, read with FINAL for
-- the seconds at the ends of a window, and for whole minutes that counts_minute does not hold exactly.
-- Grain: (item, dimensions, second) of one message. Dropped by the rollup worker, hours at a time.
-- Ordered by second, then item: a build reads each new second once, all of it, and older ones for a few items only, hence
-- also the small granules. By item first a second lies all over the parts of its hour: at 100,000 events/s reading one took
-- half a second as soon as it had been merged with others. ingestor and sequence end the key: they name a row for ever, so
-- a replay replaces itself.
CREATE TABLE topk.counts_second
(
    item_type LowCardinality(String) COMMENT 'video, hashtag, ...',
    item_id String COMMENT 'opaque bytes, compared exactly',
    second DateTime('UTC') COMMENT 'event time, floored to the second',
    country LowCardinality(String) COMMENT 'ISO 3166 alpha-2, empty when unknown',
    category LowCardinality(String) COMMENT 'empty when unknown',
    language LowCardinality(String) COMMENT 'primary BCP 47 subtag, empty when unknown',
    ingestor LowCardinality(String) COMMENT 'unique to a process start: name@start',
    sequence UInt64 COMMENT 'unique to a message of that ingestor',
    n UInt64 COMMENT 'views'
)
ENGINE = ReplacingMergeTree
PARTITION BY toStartOfHour(second)
ORDER BY (item_type, second, item_id, country, category, language, ingestor, sequence)
SETTINGS index_granularity = 1024, merge_selector_base = 30
COMMENT 'landed counts, each combined row once after FINAL'
