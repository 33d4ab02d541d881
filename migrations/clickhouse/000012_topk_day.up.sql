-- Space-Saving states of a day: who may be at the top of a slice, with an interval for each item and a floor for
-- the rest. Written by topk_day_mv from topk_hour, read by the rollup worker when it nominates candidates.
-- Grain: one state per slice and bucket once merged, one a block before.
-- 10,000 counters, all of them returned (load factor 1): the smallest is the floor that no absent item exceeds.
-- These parameters are part of the type of the state for ever.
-- Kept for ever: one state a day and slice.
-- Ordered by slice, then time: a window is one range of one slice.
CREATE TABLE topk.topk_day
(
    item_type LowCardinality(String) COMMENT 'video, hashtag, ...',
    slice LowCardinality(String) COMMENT 'global, country=IN, ...',
    bucket DateTime('UTC') COMMENT 'start of a day of event time',
    items AggregateFunction(topKWeighted(10000, 1, 'counts'), String, UInt64) COMMENT 'finalizeAggregation gives (item, count, error): count - error <= truth <= count',
    applied SimpleAggregateFunction(sum, UInt64) COMMENT 'views put into the state, replays included'
)
ENGINE = AggregatingMergeTree
PARTITION BY toStartOfYear(bucket)
ORDER BY (item_type, slice, bucket)
COMMENT 'Space-Saving states of a day'
