-- Space-Saving summaries of 10 seconds, of all blocks together: rows of topk_10s combined by the rollup worker once those have
-- passed. A list of a minute is nominated from half a dozen of them instead of a row a block.
-- Written by the rollup worker through rollups/sql/compact.sql, read when candidates are nominated.
-- Grain: one row a combination, of several that stand for the same the reader keeps the one of most views. A row stands for the rows that it names in absorbed,
-- which stay where they are: who reads both leaves the absorbed ones out.
-- Dropped by the rollup worker with topk_10s, hours at a time.
-- Ordered by slice, then time: a window is one range of one slice. A row holds up to 5,000 items, so a granule is one row.
CREATE TABLE topk.topk_10s_combined
(
    item_type LowCardinality(String) COMMENT 'video, hashtag, ...',
    slice LowCardinality(String) COMMENT 'global, country=IN, ...',
    bucket DateTime('UTC') COMMENT 'start of 10 seconds of event time',
    block UInt64 COMMENT 'random, names this row',
    absorbed Array(UInt64) COMMENT 'blocks of the rows that this one stands for, of topk_10s',
    items Array(Tuple(item String, count UInt64, error UInt64)) COMMENT 'greatest count first, count - error <= truth <= count',
    floor UInt64 COMMENT 'no item that is not in items has more views than this',
    applied UInt64 COMMENT 'views of all items, replays included'
)
ENGINE = MergeTree
PARTITION BY toStartOfHour(bucket)
ORDER BY (item_type, slice, bucket, block)
SETTINGS index_granularity = 1
COMMENT 'Space-Saving summaries of 10 seconds, a row a combination'
