-- Every view of single events reads this Null table. Fed by events_queue_mv, and by hand in a backfill.
-- Grain: one accepted event. Not valid: a heartbeat, or what is at fault.
CREATE TABLE topk.events_in
(
    event_id String COMMENT 'chosen by the client, a retry repeats it',
    item_type LowCardinality(String) COMMENT 'video, hashtag, ...',
    item_id String COMMENT 'opaque bytes, compared exactly',
    event_time DateTime64(3, 'UTC') COMMENT 'when it was viewed',
    country LowCardinality(String) DEFAULT '' COMMENT 'ISO 3166 alpha-2, empty when unknown',
    category LowCardinality(String) DEFAULT '' COMMENT 'empty when unknown',
    language LowCardinality(String) DEFAULT '' COMMENT 'primary BCP 47 subtag, empty when unknown',
    viewer String DEFAULT '' COMMENT 'opaque, empty when unknown',
    flags Array(LowCardinality(String)) DEFAULT [] COMMENT 'a flagged event is kept and never counted',
    stamped UInt8 DEFAULT 0 COMMENT 'whose clock gave event_time: 0 the client''s, 1 the ingestor''s for want of a time, 2 the ingestor''s in place of a time too far ahead',
    ingestor LowCardinality(String) DEFAULT '' COMMENT 'unique to a process start: name@start',
    topic LowCardinality(String) DEFAULT '' COMMENT 'empty when written by hand',
    partition UInt32 DEFAULT 0 COMMENT 'Kafka partition',
    offset Int64 DEFAULT -1 COMMENT 'Kafka offset',
    partitions UInt32 DEFAULT 0 COMMENT 'partitions of the topic when this was sent',
    watermark DateTime64(3, 'UTC') DEFAULT 0 COMMENT 'every event of this ingestor before it has been sent',
    closed UInt8 DEFAULT 0 COMMENT '1 in the last message of an ingestor that stopped by itself',
    sent_at DateTime64(3, 'UTC') DEFAULT 0 COMMENT 'record timestamp, wall clock',
    valid UInt8 DEFAULT item_type != '' COMMENT '0 in a heartbeat and in what is at fault: no view counts it',
    fault String DEFAULT '' COMMENT 'why it is not counted, empty when it is, row where the columns of the row say it',
    raw String DEFAULT '' COMMENT 'the first 64 KiB of a message at fault as a whole'
)
ENGINE = Null
COMMENT 'single events on their way into every view'
