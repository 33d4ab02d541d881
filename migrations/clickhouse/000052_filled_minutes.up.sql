-- Which minutes slice_minutes holds, in which version, and what is known of them as a whole. The greatest version of a minute counts. A row
-- is written after the slices of its minute, and makes them count, at once and whole. Written by the rollup worker, read by it and by the API.
-- Grain: an item type in a version of a minute, and a row without an item type which says up to when the newest are filled.
-- Kept as long as slice_minutes, dropped before it, hours at a time.
-- Ordered by time, as it is asked.
CREATE TABLE topk.filled_minutes
(
    minute DateTime('UTC') COMMENT 'start of the minute of event time',
    item_type LowCardinality(String) COMMENT 'video, hashtag, ..., empty: the minute before is filled',
    version UInt64 COMMENT 'as in slice_minutes',
    views UInt64 COMMENT 'that its slices hold: of all countries, and of those without one',
    held UInt64 COMMENT 'what counts_minute held of it afterwards, replays included: it can be asked for single items when it held all views',
    repeats UInt64 COMMENT 'views beyond the distinct events of each of its seconds',
    untimed UInt64 COMMENT 'distinct events without a time of their own: they may be in another minute, too',
    ahead UInt64 COMMENT 'distinct events whose own time was too far ahead: any of them may be in another minute, too',
    left_out UInt64 COMMENT 'no slice without a row has more views'
)
ENGINE = ReplacingMergeTree
PARTITION BY toStartOfHour(minute)
ORDER BY (minute, item_type, version)
COMMENT 'ledger of slice_minutes'
