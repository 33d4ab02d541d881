-- Every view of combined counts reads this Null table, so all see the same block. Fed by counts_queue_mv, and
-- by INSERT INTO topk.counts_in SELECT ... when live states are rebuilt by hand.
-- Grain: one combined row, n views of (item, dimensions) in one second. Not valid: a heartbeat, or what is at fault.
-- The virtual columns of Kafka are ordinary columns here. A row written by hand leaves them at their defaults, and takes an
-- ingestor and a sequence that no other rows have: equal rows of one sequence are one row of counts_second.
CREATE TABLE topk.counts_in
(
    item_type LowCardinality(String) COMMENT 'video, hashtag, ...',
    item_id String COMMENT 'opaque bytes, compared exactly',
    country LowCardinality(String) DEFAULT '' COMMENT 'ISO 3166 alpha-2, empty when unknown',
    category LowCardinality(String) DEFAULT '' COMMENT 'empty when unknown',
    language LowCardinality(String) DEFAULT '' COMMENT 'primary BCP 47 subtag, empty when unknown',
    second DateTime('UTC') COMMENT 'event time, floored to the second',
    n UInt64 COMMENT 'views',
    ingestor LowCardinality(String) COMMENT 'unique to a process start: name@start',
    sequence UInt64 COMMENT 'unique to a message of that ingestor',
    topic LowCardinality(String) DEFAULT '' COMMENT 'empty when written by hand',
    partition UInt32 DEFAULT 0 COMMENT 'Kafka partition',
    offset Int64 DEFAULT -1 COMMENT 'Kafka offset',
    partitions UInt32 DEFAULT 0 COMMENT 'partitions of the topic when this was sent',
    watermark DateTime64(3, 'UTC') DEFAULT 0 COMMENT 'every event of this ingestor before it has been sent',
    closed UInt8 DEFAULT 0 COMMENT '1 in the last message of an ingestor that stopped by itself',
    sent_at DateTime64(3, 'UTC') DEFAULT 0 COMMENT 'record timestamp, wall clock',
    valid UInt8 DEFAULT n > 0 COMMENT '0 in a heartbeat and in what is at fault: no view counts it',
    fault String DEFAULT '' COMMENT 'why it is not counted, empty when it is, row where the columns of the row say it',
    raw String DEFAULT '' COMMENT 'the first 64 KiB of a message at fault as a whole'
)
ENGINE = Null
COMMENT 'combined counts on their way into every view'
