-- What each message brought for each second: the landed total of any range in a few thousand rows, without
-- reading counts_second. A message is never split between blocks, so a replayed message writes the same row.
-- Written by landed_mv. Rows written by hand are cut into blocks anywhere: they are left out of n, so their minutes differ
-- from counts_minute and are verified from counts_second, and by_hand says that there are any. Read by the rollup worker,
-- with FINAL.
-- Ordered by time within an item type, then by what names the message. Dropped with counts_second.
CREATE TABLE topk.landed
(
    item_type LowCardinality(String) COMMENT 'video, hashtag, ...',
    second DateTime('UTC') COMMENT 'event time, floored to the second',
    ingestor LowCardinality(String) COMMENT 'unique to a process start: name@start',
    sequence UInt64 COMMENT 'unique to a message of that ingestor',
    n UInt64 COMMENT 'views of all items of that second in that message',
    by_hand UInt64 COMMENT 'views written by hand, whose ingestor is empty and sequence random'
)
ENGINE = ReplacingMergeTree
PARTITION BY toStartOfHour(second)
ORDER BY (item_type, second, ingestor, sequence)
COMMENT 'landed totals per message and second'
