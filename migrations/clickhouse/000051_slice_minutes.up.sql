-- The most viewed items of each slice in a minute, from landed counts: each combined row once, so that minutes add up to the landed
-- counts of any window. Written by the rollup worker once a minute is over, and again under another version when something landed for it
-- since. Read when the lists of slices are made, with the versions that filled_minutes names.
-- Grain: a slice in a version of a minute. Slices are of one dimension, or of a configured pair, and those of one kind share no view.
-- Of a minute the slices of most views are kept, so many of each combination of dimensions. A slice without a row has at most the views that
-- filled_minutes says of those left out.
-- Items that slice_followed names are there whatever views they have, none included: so an item that may be in a list is counted exactly from
-- the minute on in which that was found.
-- Kept as long as counts_second, dropped by the rollup worker, hours at a time.
-- Ordered by slice, then time: a union of slices is a few ranges. A row holds up to a thousand items, hence the small granules.
CREATE TABLE topk.slice_minutes
(
    item_type LowCardinality(String) COMMENT 'video, hashtag, ...',
    slice LowCardinality(String) COMMENT 'country=IN, country=IN,category=music, ...',
    dimensions UInt8 COMMENT 'which: 1 for country, 2 for category, 4 for language, added up',
    minute DateTime('UTC') COMMENT 'start of the minute of event time',
    version UInt64 COMMENT 'which filling: epoch microseconds when it began',
    views UInt64 COMMENT 'of all items of the slice',
    items Array(String) COMMENT 'the most viewed, as far as they have more views than floor, and those that are followed',
    counts Array(UInt64) COMMENT 'their views',
    floor UInt64 COMMENT 'no other item of the slice has more views'
)
ENGINE = ReplacingMergeTree
PARTITION BY toStartOfHour(minute)
ORDER BY (item_type, slice, minute, version)
SETTINGS index_granularity = 16
COMMENT 'most viewed items of slices by minute'
