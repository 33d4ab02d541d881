-- Space-Saving summaries of 10 seconds: who may be at the top of a slice, with an interval for each item and a floor
-- for the rest. Written by topk_10s_mv from counts_in, read when candidates are nominated.
-- Grain: one row for what one block brought to (item_type, slice, bucket), and several rows of a bucket add up, in any order.
-- Plain arrays and no topKWeighted state: that state orders by count - error and forgets what it drops whenever a
-- part is written, so a background merge leaves an absent item above the smallest count (measured: truth 90, bound
-- 60). Here block is in the key, no merge changes a row, and every bound is certain.
-- Dropped by the rollup worker with counts_second, hours at a time.
-- Ordered by slice, then time: a window is one range of one slice. A row holds up to 4,000 items, so a granule is one row.
CREATE TABLE topk.topk_10s
(
    item_type LowCardinality(String) COMMENT 'video, hashtag, ...',
    slice LowCardinality(String) COMMENT 'global, country=IN, ...',
    bucket DateTime('UTC') COMMENT 'start of 10 seconds of event time',
    block UInt64 COMMENT 'random, names this row',
    items Array(Tuple(item String, count UInt64, error UInt64)) COMMENT 'most viewed first, count - error <= truth <= count',
    floor UInt64 COMMENT 'no item that is not in items has more views than this in the block',
    applied UInt64 COMMENT 'views of all items in the block, replays included'
)
ENGINE = MergeTree
PARTITION BY toStartOfHour(bucket)
ORDER BY (item_type, slice, bucket, block)
SETTINGS index_granularity = 1
COMMENT 'Space-Saving summaries of 10 seconds, a row a block'
