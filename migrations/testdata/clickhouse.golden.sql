CREATE FUNCTION topk_cms_cell AS (cms_row, item_id, width) -> (sipHash64Keyed((toUInt64(cms_row), toUInt64(1953460331)), item_id) % width)

CREATE FUNCTION topk_cms_rows AS () -> [0, 1, 2, 3, 4]

CREATE FUNCTION topk_cms_width AS slice -> toUInt32(271829)

CREATE FUNCTION topk_count_fault AS (item_type, item_id, second, n) -> (['item_type: does not match ^[a-z][a-z0-9_]{0,31}$', 'item_id: not 1 to 256 bytes', 'item_id: not valid UTF-8', 'item_id: contains a control character', 'second: not between 1970 and 2100', 'n: not between 1 and 1000000000'][indexOf(topk_count_rules(item_type, item_id, second, n), 0)])

CREATE FUNCTION topk_count_rules AS (item_type, item_id, second, n) -> [match(item_type, '^[a-z][a-z0-9_]{0,31}$'), (length(item_id) >= 1) AND (length(item_id) <= 256), isValidUTF8(item_id), NOT multiMatchAny(item_id, ['[\\x00-\\x1f\\x7f]']), (toUnixTimestamp(second) >= 1) AND (toUnixTimestamp(second) <= 4102444799), (n >= 1) AND (n <= 1000000000)]

CREATE FUNCTION topk_event_fault AS (item_type, item_id, event_time, event_id) -> (['item_type: does not match ^[a-z][a-z0-9_]{0,31}$', 'item_id: not 1 to 256 bytes', 'item_id: not valid UTF-8', 'item_id: contains a control character', 'event_id: not 1 to 64 bytes', 'event_time: not between 1970 and 2100'][indexOf(topk_event_rules(item_type, item_id, event_time, event_id), 0)])

CREATE FUNCTION topk_event_identity AS (item_id, event_time, event_id) -> sipHash64(item_id, toStartOfHour(event_time), event_id)

CREATE FUNCTION topk_event_rules AS (item_type, item_id, event_time, event_id) -> [match(item_type, '^[a-z][a-z0-9_]{0,31}$'), (length(item_id) >= 1) AND (length(item_id) <= 256), isValidUTF8(item_id), NOT multiMatchAny(item_id, ['[\\x00-\\x1f\\x7f]']), (length(event_id) >= 1) AND (length(event_id) <= 64), (toUnixTimestamp64Milli(event_time) >= 1) AND (toUnixTimestamp64Milli(event_time) <= 4102444799999)]

CREATE FUNCTION topk_header_uint AS (names, vals, wanted) -> toUInt64OrZero(vals[indexOf(names, wanted)])

CREATE FUNCTION topk_message_hash AS (ingestor, sequence) -> intHash64(bitXor(sequence, cityHash64(ingestor)))

CREATE FUNCTION topk_slice_name AS (dimensions, country, category, language) -> if(dimensions = 0, 'global', arrayStringConcat(arrayConcat(if(bitTest(dimensions, 0), [concat('country=', topk_slice_value(country))], []), if(bitTest(dimensions, 1), [concat('category=', topk_slice_value(category))], []), if(bitTest(dimensions, 2), [concat('language=', topk_slice_value(language))], [])), ','))

CREATE FUNCTION topk_slice_value AS value -> replaceAll(replaceAll(replaceAll(ifNull(value, ''), '%', '%25'), ',', '%2C'), '|', '%7C')

CREATE FUNCTION topk_slices AS (country, category, language, dimensions) -> arrayMap(d -> topk_slice_name(d, country, category, language), dimensions)

CREATE FUNCTION topk_trend_novelty AS age -> exp((-age) / 172800)

CREATE FUNCTION topk_trend_score AS (fast, slow, floor, views, age) -> ((topk_trend_velocity(fast, slow, floor) * log1p(views)) * (1 + topk_trend_novelty(age)))

CREATE FUNCTION topk_trend_velocity AS (fast, slow, floor) -> (fast / greatest(slow / 24, floor))

CREATE FUNCTION topk_valid_count AS (item_type, item_id, second, n) -> (NOT has(topk_count_rules(item_type, item_id, second, n), 0))

CREATE FUNCTION topk_valid_event AS (item_type, item_id, event_time, event_id) -> (NOT has(topk_event_rules(item_type, item_id, event_time, event_id), 0))

CREATE TABLE topk.cms_day
(
    `item_type` LowCardinality(String) COMMENT 'video, hashtag, ..., empty in a seal',
    `slice` LowCardinality(String) COMMENT 'global, country=IN, ...',
    `bucket` DateTime('UTC') COMMENT 'start of a day of event time',
    `width` UInt32 COMMENT 'cells in a row: topk_cms_width(slice), 0 in a seal',
    `row` UInt8 COMMENT 'which of the hash functions, from 0, and 255 in a seal',
    `cell` UInt32 COMMENT 'topk_cms_cell(row, item_id, width)',
    `n` SimpleAggregateFunction(max, UInt64) COMMENT 'views of all items of that cell, replays included'
)
ENGINE = AggregatingMergeTree
PARTITION BY toStartOfYear(bucket)
ORDER BY (item_type, slice, bucket, width, row, cell)
SETTINGS index_granularity = 8192
COMMENT 'Count-Min Sketch of a day'

CREATE TABLE topk.cms_hour
(
    `item_type` LowCardinality(String) COMMENT 'video, hashtag, ..., empty in a seal',
    `slice` LowCardinality(String) COMMENT 'global, country=IN, ...',
    `bucket` DateTime('UTC') COMMENT 'start of an hour of event time',
    `width` UInt32 COMMENT 'cells in a row: topk_cms_width(slice), 0 in a seal',
    `row` UInt8 COMMENT 'which of the hash functions, from 0, and 255 in a seal',
    `cell` UInt32 COMMENT 'topk_cms_cell(row, item_id, width)',
    `n` SimpleAggregateFunction(max, UInt64) COMMENT 'views of all items of that cell, replays included'
)
ENGINE = AggregatingMergeTree
PARTITION BY toStartOfMonth(bucket)
ORDER BY (item_type, slice, bucket, width, row, cell)
SETTINGS index_granularity = 8192
COMMENT 'Count-Min Sketch of an hour'

CREATE TABLE topk.cms_minute
(
    `item_type` LowCardinality(String) COMMENT 'video, hashtag, ..., empty in a seal',
    `slice` LowCardinality(String) COMMENT 'global, country=IN, ...',
    `bucket` DateTime('UTC') COMMENT 'start of a minute of event time',
    `width` UInt32 COMMENT 'cells in a row: topk_cms_width(slice), 0 in a seal',
    `row` UInt8 COMMENT 'which of the hash functions, from 0, and 255 in a seal',
    `cell` UInt32 COMMENT 'topk_cms_cell(row, item_id, width)',
    `n` SimpleAggregateFunction(max, UInt64) COMMENT 'views of all items of that cell, replays included'
)
ENGINE = AggregatingMergeTree
PARTITION BY toStartOfHour(bucket)
ORDER BY (item_type, slice, bucket, width, row, cell)
SETTINGS index_granularity = 8192
COMMENT 'Count-Min Sketch of a minute'

CREATE TABLE topk.counts_daily
(
    `item_type` LowCardinality(String) COMMENT 'video, hashtag, ...',
    `item_id` String COMMENT 'opaque bytes, compared exactly',
    `day` DateTime('UTC') COMMENT 'start of the day of event time',
    `version` UInt64 COMMENT 'epoch microseconds, greater than any before of that day',
    `country` LowCardinality(String) COMMENT 'ISO 3166 alpha-2, empty when unknown',
    `category` LowCardinality(String) COMMENT 'empty when unknown',
    `language` LowCardinality(String) COMMENT 'primary BCP 47 subtag, empty when unknown',
    `n` UInt64 COMMENT 'views'
)
ENGINE = ReplacingMergeTree
PARTITION BY (day, version)
ORDER BY (item_type, item_id, day, version, country, category, language)
SETTINGS index_granularity = 1024
COMMENT 'exact counts per day, a partition a version'

CREATE MATERIALIZED VIEW topk.counts_dead_letters_mv TO topk.dead_letters
(
    `received_at` DateTime64(3, 'UTC'),
    `topic` LowCardinality(String),
    `partition` UInt32,
    `offset` Int64,
    `raw` String,
    `error` String
)
AS SELECT
    sent_at AS received_at,
    topic,
    partition,
    offset,
    if(fault != 'row', raw, substring(toJSONString(map('item_type', toString(item_type), 'item_id', item_id, 'country', toString(country), 'category', toString(category), 'language', toString(language), 'second', toString(second), 'n', toString(n), 'ingestor', toString(ingestor), 'sequence', toString(sequence))), 1, 65536)) AS raw,
    if(fault != 'row', fault, ['item_type: does not match ^[a-z][a-z0-9_]{0,31}$', 'item_id: not 1 to 256 bytes', 'item_id: not valid UTF-8', 'item_id: contains a control character', 'second: not between 1970 and 2100', 'n: not between 1 and 1000000000'][indexOf([match(item_type, '^[a-z][a-z0-9_]{0,31}$'), (length(item_id) >= 1) AND (length(item_id) <= 256), isValidUTF8(item_id), NOT multiMatchAny(item_id, ['[\\x00-\\x1f\\x7f]']), (toUnixTimestamp(second) >= 1) AND (toUnixTimestamp(second) <= 4102444799), (n >= 1) AND (n <= 1000000000)], 0)]) AS error
FROM topk.counts_faults

CREATE TABLE topk.counts_faults
(
    `item_type` LowCardinality(String) COMMENT 'video, hashtag, ...',
    `item_id` String COMMENT 'opaque bytes, compared exactly',
    `country` LowCardinality(String) DEFAULT '' COMMENT 'ISO 3166 alpha-2, empty when unknown',
    `category` LowCardinality(String) DEFAULT '' COMMENT 'empty when unknown',
    `language` LowCardinality(String) DEFAULT '' COMMENT 'primary BCP 47 subtag, empty when unknown',
    `second` DateTime('UTC') COMMENT 'event time, floored to the second',
    `n` UInt64 COMMENT 'views',
    `ingestor` LowCardinality(String) COMMENT 'unique to a process start: name@start',
    `sequence` UInt64 COMMENT 'unique to a message of that ingestor',
    `topic` LowCardinality(String) DEFAULT '' COMMENT 'empty when written by hand',
    `partition` UInt32 DEFAULT 0 COMMENT 'Kafka partition',
    `offset` Int64 DEFAULT -1 COMMENT 'Kafka offset',
    `partitions` UInt32 DEFAULT 0 COMMENT 'partitions of the topic when this was sent',
    `watermark` DateTime64(3, 'UTC') DEFAULT 0 COMMENT 'every event of this ingestor before it has been sent',
    `closed` UInt8 DEFAULT 0 COMMENT '1 in the last message of an ingestor that stopped by itself',
    `sent_at` DateTime64(3, 'UTC') DEFAULT 0 COMMENT 'record timestamp, wall clock',
    `valid` UInt8 DEFAULT n > 0 COMMENT '0 in a heartbeat and in what is at fault: no view counts it',
    `fault` String DEFAULT '' COMMENT 'why it is not counted, empty when it is, row where the columns of the row say it',
    `raw` String DEFAULT '' COMMENT 'the first 64 KiB of a message at fault as a whole'
)
ENGINE = `Null`
COMMENT 'rows and messages at fault on their way to dead_letters'

CREATE MATERIALIZED VIEW topk.counts_faults_mv TO topk.counts_faults
(
    `item_type` LowCardinality(String),
    `item_id` String,
    `country` LowCardinality(String),
    `category` LowCardinality(String),
    `language` LowCardinality(String),
    `second` DateTime('UTC'),
    `n` UInt64,
    `ingestor` LowCardinality(String),
    `sequence` UInt64,
    `topic` LowCardinality(String),
    `partition` UInt32,
    `offset` Int64,
    `partitions` UInt32,
    `watermark` DateTime64(3, 'UTC'),
    `closed` UInt8,
    `sent_at` DateTime64(3, 'UTC'),
    `valid` UInt8,
    `fault` String,
    `raw` String
)
AS SELECT *
FROM topk.counts_in
WHERE fault != ''

CREATE TABLE topk.counts_hourly
(
    `item_type` LowCardinality(String) COMMENT 'video, hashtag, ...',
    `item_id` String COMMENT 'opaque bytes, compared exactly',
    `hour` DateTime('UTC') COMMENT 'start of the hour of event time',
    `version` UInt64 COMMENT 'which recount: epoch microseconds when it began, greater than any before of that hour',
    `country` LowCardinality(String) COMMENT 'ISO 3166 alpha-2, empty when unknown',
    `category` LowCardinality(String) COMMENT 'empty when unknown',
    `language` LowCardinality(String) COMMENT 'primary BCP 47 subtag, empty when unknown',
    `n` UInt64 COMMENT 'views'
)
ENGINE = ReplacingMergeTree
PARTITION BY (hour, version)
ORDER BY (item_type, item_id, hour, version, country, category, language)
SETTINGS index_granularity = 1024
COMMENT 'exact counts per hour, a partition a recount'

CREATE TABLE topk.counts_in
(
    `item_type` LowCardinality(String) COMMENT 'video, hashtag, ...',
    `item_id` String COMMENT 'opaque bytes, compared exactly',
    `country` LowCardinality(String) DEFAULT '' COMMENT 'ISO 3166 alpha-2, empty when unknown',
    `category` LowCardinality(String) DEFAULT '' COMMENT 'empty when unknown',
    `language` LowCardinality(String) DEFAULT '' COMMENT 'primary BCP 47 subtag, empty when unknown',
    `second` DateTime('UTC') COMMENT 'event time, floored to the second',
    `n` UInt64 COMMENT 'views',
    `ingestor` LowCardinality(String) COMMENT 'unique to a process start: name@start',
    `sequence` UInt64 COMMENT 'unique to a message of that ingestor',
    `topic` LowCardinality(String) DEFAULT '' COMMENT 'empty when written by hand',
    `partition` UInt32 DEFAULT 0 COMMENT 'Kafka partition',
    `offset` Int64 DEFAULT -1 COMMENT 'Kafka offset',
    `partitions` UInt32 DEFAULT 0 COMMENT 'partitions of the topic when this was sent',
    `watermark` DateTime64(3, 'UTC') DEFAULT 0 COMMENT 'every event of this ingestor before it has been sent',
    `closed` UInt8 DEFAULT 0 COMMENT '1 in the last message of an ingestor that stopped by itself',
    `sent_at` DateTime64(3, 'UTC') DEFAULT 0 COMMENT 'record timestamp, wall clock',
    `valid` UInt8 DEFAULT n > 0 COMMENT '0 in a heartbeat and in what is at fault: no view counts it',
    `fault` String DEFAULT '' COMMENT 'why it is not counted, empty when it is, row where the columns of the row say it',
    `raw` String DEFAULT '' COMMENT 'the first 64 KiB of a message at fault as a whole'
)
ENGINE = `Null`
COMMENT 'combined counts on their way into every view'

CREATE TABLE topk.counts_minute
(
    `item_type` LowCardinality(String) COMMENT 'video, hashtag, ...',
    `item_id` String COMMENT 'opaque bytes, compared exactly',
    `minute` DateTime('UTC') COMMENT 'event time, floored to the minute',
    `country` LowCardinality(String) COMMENT 'ISO 3166 alpha-2, empty when unknown',
    `category` LowCardinality(String) COMMENT 'empty when unknown',
    `language` LowCardinality(String) COMMENT 'primary BCP 47 subtag, empty when unknown',
    `n` SimpleAggregateFunction(sum, UInt64) COMMENT 'views'
)
ENGINE = AggregatingMergeTree
PARTITION BY toStartOfHour(minute)
ORDER BY (item_type, item_id, minute, country, category, language)
SETTINGS index_granularity = 1024, merge_selector_base = 30
COMMENT 'views per item and minute, replays included'

CREATE MATERIALIZED VIEW topk.counts_minute_mv TO topk.counts_minute
(
    `item_type` LowCardinality(String),
    `item_id` String,
    `minute` DateTime('UTC'),
    `country` LowCardinality(String),
    `category` LowCardinality(String),
    `language` LowCardinality(String),
    `n` UInt64
)
AS SELECT
    item_type,
    item_id,
    toStartOfMinute(second) AS minute,
    country,
    category,
    language,
    sum(c.n) AS n
FROM topk.counts_in AS c
WHERE valid = 1
GROUP BY
    item_type,
    item_id,
    minute,
    country,
    category,
    language

CREATE MATERIALIZED VIEW topk.counts_progress_mv TO topk.ingest_progress
(
    `topic` LowCardinality(String),
    `partition` UInt32,
    `ingestor` LowCardinality(String),
    `last_offset` Int64,
    `watermark` DateTime64(3, 'UTC'),
    `last_seen` DateTime64(3, 'UTC'),
    `partitions` UInt32,
    `closed` UInt8,
    `inserted_at` DateTime64(3)
)
AS SELECT
    topic,
    partition,
    ingestor,
    max(offset) AS last_offset,
    max(c.watermark) AS watermark,
    max(sent_at) AS last_seen,
    max(c.partitions) AS partitions,
    max(c.closed) AS closed,
    now64(3) AS inserted_at
FROM topk.counts_in AS c
WHERE (topic != '') AND (fault IN ('', 'row'))
GROUP BY
    topic,
    partition,
    ingestor

CREATE TABLE topk.counts_queue
(
    `item_type` Array(String),
    `item_id` Array(String),
    `country` Array(String),
    `category` Array(String),
    `language` Array(String),
    `second` Array(DateTime('UTC')),
    `n` Array(UInt64),
    `ingestor` String,
    `sequence` UInt64
)
ENGINE = Kafka(topk_kafka)
SETTINGS kafka_topic_list = 'topk.counts.v1', kafka_group_name = 'topk-counts', kafka_format = 'RowBinaryWithNamesAndTypes', kafka_handle_error_mode = 'stream', kafka_num_consumers = 1, kafka_flush_interval_ms = 900, kafka_poll_timeout_ms = 50, kafka_consumer_reschedule_ms = 10, kafka_max_block_size = 16
COMMENT 'Kafka topk.counts.v1'

CREATE MATERIALIZED VIEW topk.counts_queue_mv TO topk.counts_in
(
    `item_type` LowCardinality(String),
    `item_id` String,
    `country` String,
    `category` String,
    `language` String,
    `second` DateTime('UTC'),
    `n` UInt64,
    `ingestor` LowCardinality(String),
    `sequence` UInt64,
    `topic` LowCardinality(String),
    `partition` UInt32,
    `offset` Int64,
    `partitions` UInt32,
    `watermark` DateTime64(3, 'UTC'),
    `closed` UInt8,
    `sent_at` DateTime64(3, 'UTC'),
    `valid` UInt8,
    `fault` String,
    `raw` String
)
AS SELECT
    item_type,
    item_id,
    country,
    category,
    language,
    second,
    n,
    ingestor,
    sequence,
    topic,
    partition,
    offset,
    partitions,
    watermark,
    closed,
    sent_at,
    (nth > 0) AND good AS valid,
    multiIf(nth = 0, message_fault, good, '', 'row') AS fault,
    raw
FROM
(
    SELECT
        toLowCardinality(type) AS item_type,
        item_id,
        country,
        category,
        language,
        second,
        n,
        nth,
        NOT has([match(item_type, '^[a-z][a-z0-9_]{0,31}$'), (length(item_id) >= 1) AND (length(item_id) <= 256), isValidUTF8(item_id), NOT multiMatchAny(item_id, ['[\\x00-\\x1f\\x7f]']), (toUnixTimestamp(second) >= 1) AND (toUnixTimestamp(second) <= 4102444799), (n >= 1) AND (n <= 1000000000)], 0) AS good,
        ingestor,
        sequence,
        topic,
        partition,
        offset,
        partitions,
        watermark,
        closed,
        sent_at,
        message_fault,
        raw
    FROM
    (
        SELECT
            q.item_type AS types,
            q.item_id AS ids,
            q.country AS countries,
            q.category AS categories,
            q.language AS languages,
            q.second AS seconds,
            q.n AS ns,
            toLowCardinality(q.ingestor) AS ingestor,
            q.sequence AS sequence,
            toLowCardinality(_topic) AS topic,
            toUInt32(_partition) AS partition,
            toInt64(_offset) AS offset,
            toUInt32(toUInt64OrZero(_headers.value[indexOf(_headers.name, 'partitions')])) AS partitions,
            fromUnixTimestamp64Milli(toInt64(toUInt64OrZero(_headers.value[indexOf(_headers.name, 'watermark')])), 'UTC') AS watermark,
            toUInt8(toUInt64OrZero(_headers.value[indexOf(_headers.name, 'closed')])) AS closed,
            toDateTime64(ifNull(_timestamp_ms, 0), 3, 'UTC') AS sent_at,
            multiIf(_error != '', _error, q.ingestor = '', 'ingestor: empty', length(arrayDistinct([length(q.item_type), length(q.item_id), length(q.country), length(q.category), length(q.language), length(q.second), length(q.n)])) > 1, 'arrays: not of one length', '') AS message_fault,
            if(message_fault = '', '', substring(if(_error != '', _raw_message, toJSONString(tuple(q.item_type, q.item_id, q.country, q.category, q.language, q.second, q.n, q.ingestor, q.sequence))), 1, 65536)) AS raw
        FROM topk.counts_queue AS q
    )
    LEFT ARRAY JOIN
        if(message_fault = '', types, []) AS type,
        if(message_fault = '', ids, []) AS item_id,
        if(message_fault = '', countries, []) AS country,
        if(message_fault = '', categories, []) AS category,
        if(message_fault = '', languages, []) AS language,
        if(message_fault = '', seconds, []) AS second,
        if(message_fault = '', ns, []) AS n,
        arrayEnumerate(if(message_fault = '', ns, [])) AS nth
)
SETTINGS max_block_size = 1000000000, query_plan_lift_up_array_join = 0

CREATE TABLE topk.counts_second
(
    `item_type` LowCardinality(String) COMMENT 'video, hashtag, ...',
    `item_id` String COMMENT 'opaque bytes, compared exactly',
    `second` DateTime('UTC') COMMENT 'event time, floored to the second',
    `country` LowCardinality(String) COMMENT 'ISO 3166 alpha-2, empty when unknown',
    `category` LowCardinality(String) COMMENT 'empty when unknown',
    `language` LowCardinality(String) COMMENT 'primary BCP 47 subtag, empty when unknown',
    `ingestor` LowCardinality(String) COMMENT 'unique to a process start: name@start',
    `sequence` UInt64 COMMENT 'unique to a message of that ingestor',
    `n` UInt64 COMMENT 'views'
)
ENGINE = ReplacingMergeTree
PARTITION BY toStartOfHour(second)
ORDER BY (item_type, second, item_id, country, category, language, ingestor, sequence)
SETTINGS index_granularity = 1024, merge_selector_base = 30
COMMENT 'landed counts, each combined row once after FINAL'

CREATE MATERIALIZED VIEW topk.counts_second_mv TO topk.counts_second
(
    `item_type` LowCardinality(String),
    `item_id` String,
    `second` DateTime('UTC'),
    `country` LowCardinality(String),
    `category` LowCardinality(String),
    `language` LowCardinality(String),
    `ingestor` LowCardinality(String),
    `sequence` UInt64,
    `n` UInt64
)
AS SELECT
    item_type,
    item_id,
    second,
    country,
    category,
    language,
    ingestor,
    sequence,
    n
FROM topk.counts_in
WHERE valid = 1

CREATE TABLE topk.counts_total
(
    `item_type` LowCardinality(String) COMMENT 'video, hashtag, ...',
    `item_id` String COMMENT 'opaque bytes, compared exactly',
    `version` UInt64 COMMENT 'epoch microseconds, greater than any before',
    `country` LowCardinality(String) COMMENT 'ISO 3166 alpha-2, empty when unknown',
    `category` LowCardinality(String) COMMENT 'empty when unknown',
    `language` LowCardinality(String) COMMENT 'primary BCP 47 subtag, empty when unknown',
    `n` UInt64 COMMENT 'views'
)
ENGINE = ReplacingMergeTree
PARTITION BY version
ORDER BY (item_type, item_id, version, country, category, language)
SETTINGS index_granularity = 1024
COMMENT 'exact counts of all folded days, a partition a version'

CREATE VIEW topk.day_versions
(
    `day` DateTime('UTC'),
    `version` UInt64,
    `events` UInt64,
    `sealed` UInt8,
    `recounted_at` DateTime64(3, 'UTC'),
    `holds` UInt8
)
COMMENT 'which version of each day counts, and whether it stands for its hours'
AS SELECT
    days.day AS day,
    days.version AS version,
    days.events AS events,
    days.sealed AS sealed,
    days.recounted_at AS recounted_at,
    days.sealed OR (days.hours = hours.versions) AS holds
FROM
(
    SELECT
        day,
        max(d.version) AS version,
        argMax(d.hours, d.version) AS hours,
        argMax(d.events, d.version) AS events,
        max(d.sealed) AS sealed,
        argMax(d.recounted_at, (d.version, d.recounted_at)) AS recounted_at
    FROM topk.recounts_daily AS d
    GROUP BY day
) AS days
LEFT JOIN
(
    SELECT
        toStartOfDay(hour) AS day,
        arrayMap(x -> (x.2), arraySort(groupArray((hour, version)))) AS versions
    FROM topk.hour_versions
    GROUP BY day
) AS hours ON hours.day = days.day

CREATE TABLE topk.dead_letters
(
    `received_at` DateTime64(3, 'UTC') COMMENT 'record timestamp, wall clock',
    `topic` LowCardinality(String) COMMENT 'Kafka topic',
    `partition` UInt32 COMMENT 'Kafka partition',
    `offset` Int64 COMMENT 'Kafka offset',
    `raw` String COMMENT 'the first 64 KiB of the message as it came, or the bad row as JSON',
    `error` String COMMENT 'what was wrong'
)
ENGINE = MergeTree
ORDER BY (received_at, topic, partition, offset)
TTL toDateTime(received_at) + toIntervalDay(30)
SETTINGS index_granularity = 8192
COMMENT 'messages that could not be counted, with the reason'

CREATE TABLE topk.event_identities
(
    `item_type` LowCardinality(String) COMMENT 'video, hashtag, ...',
    `second` DateTime('UTC') COMMENT 'event time, floored to the second',
    `stamped` UInt8 COMMENT 'whose clock gave the time, as in events_in',
    `partition` UInt32 COMMENT 'Kafka partition',
    `offset` Int64 COMMENT 'Kafka offset, random and negative when written by hand',
    `events` UInt32 COMMENT 'length of identities, which FINAL would read whole to tell',
    `identities` Array(UInt64) COMMENT 'hashes of (item_id, hour, event_id), repeats included' CODEC(NONE)
)
ENGINE = ReplacingMergeTree
PARTITION BY toStartOfHour(second)
ORDER BY (item_type, second, stamped, partition, offset)
SETTINGS index_granularity = 64
COMMENT 'identities of counted events by second, to measure duplicates'

CREATE MATERIALIZED VIEW topk.event_identities_mv TO topk.event_identities
(
    `item_type` LowCardinality(String),
    `second` DateTime('UTC'),
    `stamped` UInt8,
    `partition` UInt32,
    `offset` Int64,
    `events` UInt64,
    `identities` Array(UInt64)
)
AS SELECT
    item_type,
    second,
    stamped,
    partition,
    if(hand, -1 - toInt64(rand64() % 9223372036854775807), message) AS offset,
    length(identities) AS events,
    identities
FROM
(
    SELECT
        item_type,
        toDateTime(event_time, 'UTC') AS second,
        stamped,
        partition,
        topic = '' AS hand,
        if(hand, 0, offset) AS message,
        groupArray(sipHash64(item_id, toStartOfHour(event_time), event_id)) AS identities
    FROM topk.events_in
    WHERE (valid = 1) AND empty(flags)
    GROUP BY
        item_type,
        second,
        stamped,
        partition,
        hand,
        message
)

CREATE TABLE topk.events
(
    `event_id` String COMMENT 'chosen by the client, a retry repeats it',
    `item_type` LowCardinality(String) COMMENT 'video, hashtag, ...',
    `item_id` String COMMENT 'opaque bytes, compared exactly',
    `event_time` DateTime64(3, 'UTC') COMMENT 'when it was viewed' CODEC(Delta(8), ZSTD(1)),
    `country` LowCardinality(String) COMMENT 'ISO 3166 alpha-2, empty when unknown',
    `category` LowCardinality(String) COMMENT 'empty when unknown',
    `language` LowCardinality(String) COMMENT 'primary BCP 47 subtag, empty when unknown',
    `viewer` String COMMENT 'opaque, empty when unknown',
    `flags` Array(LowCardinality(String)) COMMENT 'a flagged event is kept and never counted',
    `stamped` UInt8 COMMENT 'whose clock gave event_time, as in events_in',
    `ingestor` LowCardinality(String) COMMENT 'who accepted it: name@start',
    `received_at` DateTime64(3, 'UTC') COMMENT 'when its flush was sent, wall clock' CODEC(Delta(8), ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toStartOfHour(event_time)
ORDER BY (item_type, item_id, toStartOfHour(event_time), event_id)
SETTINGS merge_selector_base = 60, enable_block_number_column = 1, index_granularity = 8192
COMMENT 'raw events, one row an identity after FINAL'

CREATE MATERIALIZED VIEW topk.events_dead_letters_mv TO topk.dead_letters
(
    `received_at` DateTime64(3, 'UTC'),
    `topic` LowCardinality(String),
    `partition` UInt32,
    `offset` Int64,
    `raw` String,
    `error` String
)
AS SELECT
    sent_at AS received_at,
    topic,
    partition,
    offset,
    if(fault != 'row', raw, substring(toJSONString(map('event_id', event_id, 'item_type', toString(item_type), 'item_id', item_id, 'event_time', toString(event_time), 'country', toString(country), 'category', toString(category), 'language', toString(language), 'viewer', viewer, 'flags', toString(flags), 'stamped', toString(stamped), 'ingestor', toString(ingestor))), 1, 65536)) AS raw,
    if(fault != 'row', fault, ['item_type: does not match ^[a-z][a-z0-9_]{0,31}$', 'item_id: not 1 to 256 bytes', 'item_id: not valid UTF-8', 'item_id: contains a control character', 'event_id: not 1 to 64 bytes', 'event_time: not between 1970 and 2100'][indexOf([match(item_type, '^[a-z][a-z0-9_]{0,31}$'), (length(item_id) >= 1) AND (length(item_id) <= 256), isValidUTF8(item_id), NOT multiMatchAny(item_id, ['[\\x00-\\x1f\\x7f]']), (length(event_id) >= 1) AND (length(event_id) <= 64), (toUnixTimestamp64Milli(event_time) >= 1) AND (toUnixTimestamp64Milli(event_time) <= 4102444799999)], 0)]) AS error
FROM topk.events_faults

CREATE TABLE topk.events_faults
(
    `event_id` String COMMENT 'chosen by the client, a retry repeats it',
    `item_type` LowCardinality(String) COMMENT 'video, hashtag, ...',
    `item_id` String COMMENT 'opaque bytes, compared exactly',
    `event_time` DateTime64(3, 'UTC') COMMENT 'when it was viewed',
    `country` LowCardinality(String) DEFAULT '' COMMENT 'ISO 3166 alpha-2, empty when unknown',
    `category` LowCardinality(String) DEFAULT '' COMMENT 'empty when unknown',
    `language` LowCardinality(String) DEFAULT '' COMMENT 'primary BCP 47 subtag, empty when unknown',
    `viewer` String DEFAULT '' COMMENT 'opaque, empty when unknown',
    `flags` Array(LowCardinality(String)) DEFAULT [] COMMENT 'a flagged event is kept and never counted',
    `stamped` UInt8 DEFAULT 0 COMMENT 'whose clock gave event_time: 0 the client\'s, 1 the ingestor\'s for want of a time, 2 the ingestor\'s in place of a time too far ahead',
    `ingestor` LowCardinality(String) DEFAULT '' COMMENT 'unique to a process start: name@start',
    `topic` LowCardinality(String) DEFAULT '' COMMENT 'empty when written by hand',
    `partition` UInt32 DEFAULT 0 COMMENT 'Kafka partition',
    `offset` Int64 DEFAULT -1 COMMENT 'Kafka offset',
    `partitions` UInt32 DEFAULT 0 COMMENT 'partitions of the topic when this was sent',
    `watermark` DateTime64(3, 'UTC') DEFAULT 0 COMMENT 'every event of this ingestor before it has been sent',
    `closed` UInt8 DEFAULT 0 COMMENT '1 in the last message of an ingestor that stopped by itself',
    `sent_at` DateTime64(3, 'UTC') DEFAULT 0 COMMENT 'record timestamp, wall clock',
    `valid` UInt8 DEFAULT item_type != '' COMMENT '0 in a heartbeat and in what is at fault: no view counts it',
    `fault` String DEFAULT '' COMMENT 'why it is not counted, empty when it is, row where the columns of the row say it',
    `raw` String DEFAULT '' COMMENT 'the first 64 KiB of a message at fault as a whole'
)
ENGINE = `Null`
COMMENT 'rows and messages at fault on their way to dead_letters'

CREATE MATERIALIZED VIEW topk.events_faults_mv TO topk.events_faults
(
    `event_id` String,
    `item_type` LowCardinality(String),
    `item_id` String,
    `event_time` DateTime64(3, 'UTC'),
    `country` LowCardinality(String),
    `category` LowCardinality(String),
    `language` LowCardinality(String),
    `viewer` String,
    `flags` Array(LowCardinality(String)),
    `stamped` UInt8,
    `ingestor` LowCardinality(String),
    `topic` LowCardinality(String),
    `partition` UInt32,
    `offset` Int64,
    `partitions` UInt32,
    `watermark` DateTime64(3, 'UTC'),
    `closed` UInt8,
    `sent_at` DateTime64(3, 'UTC'),
    `valid` UInt8,
    `fault` String,
    `raw` String
)
AS SELECT *
FROM topk.events_in
WHERE fault != ''

CREATE TABLE topk.events_in
(
    `event_id` String COMMENT 'chosen by the client, a retry repeats it',
    `item_type` LowCardinality(String) COMMENT 'video, hashtag, ...',
    `item_id` String COMMENT 'opaque bytes, compared exactly',
    `event_time` DateTime64(3, 'UTC') COMMENT 'when it was viewed',
    `country` LowCardinality(String) DEFAULT '' COMMENT 'ISO 3166 alpha-2, empty when unknown',
    `category` LowCardinality(String) DEFAULT '' COMMENT 'empty when unknown',
    `language` LowCardinality(String) DEFAULT '' COMMENT 'primary BCP 47 subtag, empty when unknown',
    `viewer` String DEFAULT '' COMMENT 'opaque, empty when unknown',
    `flags` Array(LowCardinality(String)) DEFAULT [] COMMENT 'a flagged event is kept and never counted',
    `stamped` UInt8 DEFAULT 0 COMMENT 'whose clock gave event_time: 0 the client\'s, 1 the ingestor\'s for want of a time, 2 the ingestor\'s in place of a time too far ahead',
    `ingestor` LowCardinality(String) DEFAULT '' COMMENT 'unique to a process start: name@start',
    `topic` LowCardinality(String) DEFAULT '' COMMENT 'empty when written by hand',
    `partition` UInt32 DEFAULT 0 COMMENT 'Kafka partition',
    `offset` Int64 DEFAULT -1 COMMENT 'Kafka offset',
    `partitions` UInt32 DEFAULT 0 COMMENT 'partitions of the topic when this was sent',
    `watermark` DateTime64(3, 'UTC') DEFAULT 0 COMMENT 'every event of this ingestor before it has been sent',
    `closed` UInt8 DEFAULT 0 COMMENT '1 in the last message of an ingestor that stopped by itself',
    `sent_at` DateTime64(3, 'UTC') DEFAULT 0 COMMENT 'record timestamp, wall clock',
    `valid` UInt8 DEFAULT item_type != '' COMMENT '0 in a heartbeat and in what is at fault: no view counts it',
    `fault` String DEFAULT '' COMMENT 'why it is not counted, empty when it is, row where the columns of the row say it',
    `raw` String DEFAULT '' COMMENT 'the first 64 KiB of a message at fault as a whole'
)
ENGINE = `Null`
COMMENT 'single events on their way into every view'

CREATE MATERIALIZED VIEW topk.events_mv TO topk.events
(
    `event_id` String,
    `item_type` LowCardinality(String),
    `item_id` String,
    `event_time` DateTime64(3, 'UTC'),
    `country` LowCardinality(String),
    `category` LowCardinality(String),
    `language` LowCardinality(String),
    `viewer` String,
    `flags` Array(LowCardinality(String)),
    `stamped` UInt8,
    `ingestor` LowCardinality(String),
    `received_at` DateTime64(3, 'UTC')
)
AS SELECT
    event_id,
    item_type,
    item_id,
    event_time,
    country,
    category,
    language,
    viewer,
    flags,
    stamped,
    ingestor,
    sent_at AS received_at
FROM topk.events_in
WHERE valid = 1

CREATE MATERIALIZED VIEW topk.events_progress_mv TO topk.ingest_progress
(
    `topic` LowCardinality(String),
    `partition` UInt32,
    `ingestor` LowCardinality(String),
    `last_offset` Int64,
    `watermark` DateTime64(3, 'UTC'),
    `last_seen` DateTime64(3, 'UTC'),
    `partitions` UInt32,
    `closed` UInt8,
    `inserted_at` DateTime64(3)
)
AS SELECT
    topic,
    partition,
    ingestor,
    max(offset) AS last_offset,
    max(e.watermark) AS watermark,
    max(sent_at) AS last_seen,
    max(e.partitions) AS partitions,
    max(e.closed) AS closed,
    now64(3) AS inserted_at
FROM topk.events_in AS e
WHERE (topic != '') AND (fault IN ('', 'row'))
GROUP BY
    topic,
    partition,
    ingestor

CREATE TABLE topk.events_queue
(
    `event_id` Array(String),
    `item_type` Array(String),
    `item_id` Array(String),
    `event_time` Array(DateTime64(3, 'UTC')),
    `country` Array(String),
    `category` Array(String),
    `language` Array(String),
    `viewer` Array(String),
    `flags` Array(Array(String)),
    `stamped` Array(UInt8),
    `ingestor` String
)
ENGINE = Kafka(topk_kafka)
SETTINGS kafka_topic_list = 'topk.events.v1', kafka_group_name = 'topk-events', kafka_format = 'RowBinaryWithNamesAndTypes', kafka_handle_error_mode = 'stream', kafka_num_consumers = 1, kafka_flush_interval_ms = 900, kafka_poll_timeout_ms = 50, kafka_consumer_reschedule_ms = 10, kafka_max_block_size = 16
COMMENT 'Kafka topk.events.v1'

CREATE MATERIALIZED VIEW topk.events_queue_mv TO topk.events_in
(
    `event_id` String,
    `item_type` LowCardinality(String),
    `item_id` String,
    `event_time` DateTime64(3, 'UTC'),
    `country` String,
    `category` String,
    `language` String,
    `viewer` String,
    `flags` Array(String),
    `stamped` UInt8,
    `ingestor` LowCardinality(String),
    `topic` LowCardinality(String),
    `partition` UInt32,
    `offset` Int64,
    `partitions` UInt32,
    `watermark` DateTime64(3, 'UTC'),
    `closed` UInt8,
    `sent_at` DateTime64(3, 'UTC'),
    `valid` UInt8,
    `fault` String,
    `raw` String
)
AS SELECT
    event_id,
    item_type,
    item_id,
    event_time,
    country,
    category,
    language,
    viewer,
    flags,
    stamped,
    ingestor,
    topic,
    partition,
    offset,
    partitions,
    watermark,
    closed,
    sent_at,
    (nth > 0) AND good AS valid,
    multiIf(nth = 0, message_fault, good, '', 'row') AS fault,
    raw
FROM
(
    SELECT
        event_id,
        toLowCardinality(type) AS item_type,
        item_id,
        event_time,
        country,
        category,
        language,
        viewer,
        flags,
        stamped,
        nth,
        NOT has([match(item_type, '^[a-z][a-z0-9_]{0,31}$'), (length(item_id) >= 1) AND (length(item_id) <= 256), isValidUTF8(item_id), NOT multiMatchAny(item_id, ['[\\x00-\\x1f\\x7f]']), (length(event_id) >= 1) AND (length(event_id) <= 64), (toUnixTimestamp64Milli(event_time) >= 1) AND (toUnixTimestamp64Milli(event_time) <= 4102444799999)], 0) AS good,
        ingestor,
        topic,
        partition,
        offset,
        partitions,
        watermark,
        closed,
        sent_at,
        message_fault,
        raw
    FROM
    (
        SELECT
            q.event_id AS event_ids,
            q.item_type AS types,
            q.item_id AS ids,
            q.event_time AS times,
            q.country AS countries,
            q.category AS categories,
            q.language AS languages,
            q.viewer AS viewers,
            q.flags AS flag_lists,
            q.stamped AS stamps,
            toLowCardinality(q.ingestor) AS ingestor,
            toLowCardinality(_topic) AS topic,
            toUInt32(_partition) AS partition,
            toInt64(_offset) AS offset,
            toUInt32(toUInt64OrZero(_headers.value[indexOf(_headers.name, 'partitions')])) AS partitions,
            fromUnixTimestamp64Milli(toInt64(toUInt64OrZero(_headers.value[indexOf(_headers.name, 'watermark')])), 'UTC') AS watermark,
            toUInt8(toUInt64OrZero(_headers.value[indexOf(_headers.name, 'closed')])) AS closed,
            toDateTime64(ifNull(_timestamp_ms, 0), 3, 'UTC') AS sent_at,
            multiIf(_error != '', _error, q.ingestor = '', 'ingestor: empty', length(arrayDistinct([length(q.event_id), length(q.item_type), length(q.item_id), length(q.event_time), length(q.country), length(q.category), length(q.language), length(q.viewer), length(q.flags), length(q.stamped)])) > 1, 'arrays: not of one length', '') AS message_fault,
            if(message_fault = '', '', substring(if(_error != '', _raw_message, toJSONString(tuple(q.event_id, q.item_type, q.item_id, q.event_time, q.country, q.category, q.language, q.viewer, q.flags, q.stamped, q.ingestor))), 1, 65536)) AS raw
        FROM topk.events_queue AS q
    )
    LEFT ARRAY JOIN
        if(message_fault = '', event_ids, []) AS event_id,
        if(message_fault = '', types, []) AS type,
        if(message_fault = '', ids, []) AS item_id,
        if(message_fault = '', times, []) AS event_time,
        if(message_fault = '', countries, []) AS country,
        if(message_fault = '', categories, []) AS category,
        if(message_fault = '', languages, []) AS language,
        if(message_fault = '', viewers, []) AS viewer,
        if(message_fault = '', flag_lists, []) AS flags,
        if(message_fault = '', stamps, []) AS stamped,
        arrayEnumerate(if(message_fault = '', event_ids, [])) AS nth
)
SETTINGS max_block_size = 1000000000, query_plan_lift_up_array_join = 0

CREATE VIEW topk.exact_cover
COMMENT 'exact counts in given versions of hours, days and the total'
AS SELECT
    'total' AS part,
    toDateTime(0, 'UTC') AS bucket,
    version,
    item_type,
    item_id,
    country,
    category,
    language,
    toInt64(n) AS views
FROM topk.counts_total
FINAL
WHERE version = {total:UInt64}
UNION ALL
SELECT
    'day' AS part,
    day AS bucket,
    version,
    item_type,
    item_id,
    country,
    category,
    language,
    toInt64(n) AS views
FROM topk.counts_daily
FINAL
WHERE (day, version) IN arrayZip({days:Array(DateTime('UTC'))}, {day_versions:Array(UInt64)})
UNION ALL
SELECT
    'less' AS part,
    day AS bucket,
    version,
    item_type,
    item_id,
    country,
    category,
    language,
    -toInt64(n) AS views
FROM topk.counts_daily
FINAL
WHERE (day, version) IN arrayZip({less:Array(DateTime('UTC'))}, {less_versions:Array(UInt64)})
UNION ALL
SELECT
    'hour' AS part,
    hour AS bucket,
    version,
    item_type,
    item_id,
    country,
    category,
    language,
    toInt64(n) AS views
FROM topk.counts_hourly
FINAL
WHERE (hour, version) IN arrayZip({hours:Array(DateTime('UTC'))}, {hour_versions:Array(UInt64)})

CREATE VIEW topk.exact_daily
(
    `day` DateTime('UTC'),
    `item_type` LowCardinality(String),
    `item_id` String,
    `country` LowCardinality(String),
    `category` LowCardinality(String),
    `language` LowCardinality(String),
    `n` UInt64
)
COMMENT 'exact counts per closed day (UTC)'
AS SELECT
    day,
    item_type,
    item_id,
    country,
    category,
    language,
    n
FROM topk.counts_daily
FINAL
WHERE (day, version) IN (
    SELECT
        day,
        version
    FROM topk.day_versions
    WHERE holds AND (recounted_at <= (now64(3) - toIntervalSecond(1)))
)
SETTINGS do_not_merge_across_partitions_select_final = 1, defer_partition_pruning_after_final = 0

CREATE TABLE topk.exact_heads
(
    `part` LowCardinality(String) COMMENT 'hour, day or total: of counts_hourly, counts_daily or counts_total',
    `bucket` DateTime('UTC') COMMENT 'start of the hour or day, 1970 for a total',
    `version` UInt64 COMMENT 'as in the table that it is of',
    `item_type` LowCardinality(String) COMMENT 'video, hashtag, ...',
    `views` UInt64 COMMENT 'of all items of the type',
    `items` Array(String) COMMENT 'the most viewed ones, most first, then by bytes',
    `counts` Array(UInt64) COMMENT 'their views',
    `floor` UInt64 COMMENT 'no other item has more views',
    `made` DateTime('UTC') DEFAULT now() COMMENT 'wall clock of ClickHouse'
)
ENGINE = ReplacingMergeTree
PARTITION BY toStartOfWeek(made)
ORDER BY (part, bucket, version, item_type)
TTL made + toIntervalDay(40)
SETTINGS ttl_only_drop_parts = 1, index_granularity = 64
COMMENT 'the most viewed of closed hours, days and all time, a cache'

CREATE VIEW topk.exact_hourly
(
    `hour` DateTime('UTC'),
    `item_type` LowCardinality(String),
    `item_id` String,
    `country` LowCardinality(String),
    `category` LowCardinality(String),
    `language` LowCardinality(String),
    `n` UInt64
)
COMMENT 'exact counts per closed hour, each event once'
AS SELECT
    hour,
    item_type,
    item_id,
    country,
    category,
    language,
    n
FROM topk.counts_hourly
FINAL
WHERE (hour, version) IN (
    SELECT
        hour,
        max(r.version)
    FROM topk.recounts AS r
    WHERE r.recounted_at <= (now64(3) - toIntervalSecond(1))
    GROUP BY hour
)
SETTINGS do_not_merge_across_partitions_select_final = 1, defer_partition_pruning_after_final = 0

CREATE VIEW topk.exact_total
(
    `item_type` LowCardinality(String),
    `item_id` String,
    `country` LowCardinality(String),
    `category` LowCardinality(String),
    `language` LowCardinality(String),
    `n` Int64
)
COMMENT 'exact counts of all time: sum n'
AS SELECT
    item_type,
    item_id,
    country,
    category,
    language,
    toInt64(n) AS n
FROM topk.counts_total
FINAL
WHERE version IN (
    SELECT version
    FROM topk.total_parts
    WHERE part = 'total'
)
UNION ALL
SELECT
    item_type,
    item_id,
    country,
    category,
    language,
    toInt64(n)
FROM topk.counts_daily
FINAL
WHERE (day, version) IN (
    SELECT
        bucket,
        version
    FROM topk.total_parts
    WHERE (part = 'day') AND (sign = 1)
)
UNION ALL
SELECT
    item_type,
    item_id,
    country,
    category,
    language,
    -toInt64(n)
FROM topk.counts_daily
FINAL
WHERE (day, version) IN (
    SELECT
        bucket,
        version
    FROM topk.total_parts
    WHERE (part = 'day') AND (sign = -1)
)
UNION ALL
SELECT
    item_type,
    item_id,
    country,
    category,
    language,
    toInt64(n)
FROM topk.counts_hourly
FINAL
WHERE (hour, version) IN (
    SELECT
        bucket,
        version
    FROM topk.total_parts
    WHERE part = 'hour'
)

CREATE TABLE topk.filled_minutes
(
    `minute` DateTime('UTC') COMMENT 'start of the minute of event time',
    `item_type` LowCardinality(String) COMMENT 'video, hashtag, ..., empty: the minute before is filled',
    `version` UInt64 COMMENT 'as in slice_minutes',
    `views` UInt64 COMMENT 'that its slices hold: of all countries, and of those without one',
    `held` UInt64 COMMENT 'what counts_minute held of it afterwards, replays included: it can be asked for single items when it held all views',
    `repeats` UInt64 COMMENT 'views beyond the distinct events of each of its seconds',
    `untimed` UInt64 COMMENT 'distinct events without a time of their own: they may be in another minute, too',
    `ahead` UInt64 COMMENT 'distinct events whose own time was too far ahead: any of them may be in another minute, too',
    `left_out` UInt64 COMMENT 'no slice without a row has more views'
)
ENGINE = ReplacingMergeTree
PARTITION BY toStartOfHour(minute)
ORDER BY (minute, item_type, version)
SETTINGS index_granularity = 8192
COMMENT 'ledger of slice_minutes'

CREATE VIEW topk.folded_days
(
    `day` DateTime('UTC'),
    `version` UInt64
)
COMMENT 'which days the newest total holds, in which version'
AS SELECT
    day,
    day_version AS version
FROM
(
    SELECT
        r.days AS days,
        r.versions AS versions
    FROM topk.recounts_total AS r
    ORDER BY r.version DESC
    LIMIT 1
)
ARRAY JOIN
    days AS day,
    versions AS day_version

CREATE VIEW topk.hour_versions
(
    `hour` DateTime('UTC'),
    `version` UInt64,
    `events` UInt64,
    `distinct_events` UInt64,
    `items` UInt64,
    `events_block` Int64,
    `why` String,
    `recounted_at` DateTime64(3, 'UTC')
)
COMMENT 'which recount of each hour counts'
AS SELECT
    hour,
    max(r.version) AS version,
    argMax(r.events, r.version) AS events,
    argMax(r.distinct_events, r.version) AS distinct_events,
    argMax(r.items, r.version) AS items,
    max(r.events_block) AS events_block,
    argMax(r.why, r.version) AS why,
    argMax(r.recounted_at, r.version) AS recounted_at
FROM topk.recounts AS r
GROUP BY hour

CREATE TABLE topk.ingest_progress
(
    `topic` LowCardinality(String) COMMENT 'Kafka topic',
    `partition` UInt32 COMMENT 'Kafka partition',
    `ingestor` LowCardinality(String) COMMENT 'unique to a process start: name@start',
    `last_offset` Int64 COMMENT 'greatest offset of that ingestor in the block',
    `watermark` DateTime64(3, 'UTC') COMMENT 'every event of this ingestor before it is in this block or an earlier one',
    `last_seen` DateTime64(3, 'UTC') COMMENT 'newest record timestamp, wall clock of the sender',
    `partitions` UInt32 COMMENT 'partitions the topic had: fewer here means one is missing',
    `closed` UInt8 COMMENT '1 when the ingestor stopped by itself: it holds nothing back any more',
    `inserted_at` DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'wall clock of ClickHouse'
)
ENGINE = ReplacingMergeTree
PARTITION BY toStartOfHour(inserted_at)
ORDER BY (topic, partition, last_offset, ingestor)
TTL toDateTime(inserted_at) + toIntervalDay(1)
SETTINGS index_granularity = 8192
COMMENT 'watermarks per topic, partition and ingestor'

CREATE TABLE topk.landed
(
    `item_type` LowCardinality(String) COMMENT 'video, hashtag, ...',
    `second` DateTime('UTC') COMMENT 'event time, floored to the second',
    `ingestor` LowCardinality(String) COMMENT 'unique to a process start: name@start',
    `sequence` UInt64 COMMENT 'unique to a message of that ingestor',
    `n` UInt64 COMMENT 'views of all items of that second in that message',
    `by_hand` UInt64 COMMENT 'views written by hand, whose ingestor is empty and sequence random'
)
ENGINE = ReplacingMergeTree
PARTITION BY toStartOfHour(second)
ORDER BY (item_type, second, ingestor, sequence)
SETTINGS index_granularity = 8192
COMMENT 'landed totals per message and second'

CREATE MATERIALIZED VIEW topk.landed_mv TO topk.landed
(
    `item_type` LowCardinality(String),
    `second` DateTime('UTC'),
    `ingestor` String,
    `sequence` UInt64,
    `n` UInt64,
    `by_hand` UInt64
)
AS SELECT
    item_type,
    second,
    sender AS ingestor,
    if(hand, rand64(), message) AS sequence,
    if(hand, 0, views) AS n,
    if(hand, views, 0) AS by_hand
FROM
(
    SELECT
        item_type,
        second,
        topic = '' AS hand,
        if(hand, '', ingestor) AS sender,
        if(hand, 0, sequence) AS message,
        sum(c.n) AS views
    FROM topk.counts_in AS c
    WHERE valid = 1
    GROUP BY
        item_type,
        second,
        hand,
        sender,
        message
)

CREATE TABLE topk.recounts
(
    `hour` DateTime('UTC') COMMENT 'start of the hour of event time',
    `version` UInt64 COMMENT 'as in counts_hourly',
    `events` UInt64 COMMENT 'rows of events that were there, repeats that no merge had met and flagged ones included',
    `distinct_events` UInt64 COMMENT 'events counted: the sum of n',
    `items` UInt64 COMMENT 'items counted',
    `events_block` Int64 DEFAULT 0 COMMENT 'newest block of events in that hour when the recount began, a newer one makes the hour due again',
    `why` LowCardinality(String) COMMENT 'closed, late, by hand, ...',
    `recounted_at` DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'wall clock of ClickHouse'
)
ENGINE = ReplacingMergeTree
ORDER BY (hour, version)
SETTINGS index_granularity = 8192
COMMENT 'ledger of recounts: the greatest version of an hour counts'

CREATE TABLE topk.recounts_daily
(
    `day` DateTime('UTC') COMMENT 'start of the day of event time',
    `version` UInt64 COMMENT 'as in counts_daily',
    `hours` Array(UInt64) COMMENT 'versions of the 24 hours it is the sum of, in their order',
    `events` UInt64 COMMENT 'the sum of n',
    `items` UInt64 COMMENT 'items counted',
    `sealed` UInt8 DEFAULT 0 COMMENT '1 once its hours are no longer kept: no recount of an hour changes it any more',
    `recounted_at` DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'wall clock of ClickHouse'
)
ENGINE = ReplacingMergeTree
ORDER BY (day, version, sealed)
SETTINGS index_granularity = 8192
COMMENT 'ledger of days: the greatest version of a day counts, while it is made of the newest hours'

CREATE TABLE topk.recounts_total
(
    `version` UInt64 COMMENT 'as in counts_total',
    `days` Array(DateTime('UTC')) COMMENT 'the days it is the sum of, in their order',
    `versions` Array(UInt64) COMMENT 'their versions in counts_daily',
    `events` UInt64 COMMENT 'the sum of n',
    `recounted_at` DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'wall clock of ClickHouse'
)
ENGINE = ReplacingMergeTree
ORDER BY version
SETTINGS index_granularity = 8192
COMMENT 'ledger of totals: the greatest version counts'

CREATE TABLE topk.slice_followed
(
    `version` UInt64 COMMENT 'epoch microseconds when it was made',
    `dimensions` UInt8 COMMENT 'of the slice, as in slice_minutes',
    `item_type` LowCardinality(String) COMMENT 'video, hashtag, ...',
    `country` LowCardinality(String) COMMENT 'empty when unknown, or when it is none of the dimensions',
    `category` LowCardinality(String) COMMENT 'the same',
    `language` LowCardinality(String) COMMENT 'the same',
    `item_id` String COMMENT 'opaque bytes, compared exactly',
    `made` DateTime('UTC') DEFAULT now() COMMENT 'wall clock of ClickHouse'
)
ENGINE = MergeTree
PARTITION BY toStartOfTenMinutes(made)
ORDER BY (version, dimensions)
TTL made + toIntervalHour(1)
SETTINGS ttl_only_drop_parts = 1, index_granularity = 8192
COMMENT 'items that may soon be in a list of a slice'

CREATE TABLE topk.slice_heads
(
    `slice` LowCardinality(String) COMMENT 'country=IN, country=IN,category=music, ...',
    `dimensions` UInt8 COMMENT 'which: 1 for country, 2 for category, 4 for language, added up',
    `part` LowCardinality(String) COMMENT 'hour, day or total: of counts_hourly, counts_daily or counts_total',
    `bucket` DateTime('UTC') COMMENT 'start of the hour or day, 1970 for a total',
    `version` UInt64 COMMENT 'as in the table that it is of',
    `item_type` LowCardinality(String) COMMENT 'video, hashtag, ...',
    `views` UInt64 COMMENT 'of all items of the slice',
    `items` Array(String) COMMENT 'the most viewed, as far as they have more views than floor',
    `counts` Array(UInt64) COMMENT 'their views',
    `floor` UInt64 COMMENT 'no other item of the slice has more views',
    `made` DateTime('UTC') DEFAULT now() COMMENT 'wall clock of ClickHouse'
)
ENGINE = ReplacingMergeTree
PARTITION BY (part = 'hour', toStartOfWeek(made))
ORDER BY (slice, dimensions, part, bucket, version, item_type)
TTL addDays(made, if(part = 'hour', 10, 40))
SETTINGS ttl_only_drop_parts = 1, index_granularity = 16
COMMENT 'the most viewed of slices in closed hours, days and all time, a cache'

CREATE TABLE topk.slice_minutes
(
    `item_type` LowCardinality(String) COMMENT 'video, hashtag, ...',
    `slice` LowCardinality(String) COMMENT 'country=IN, country=IN,category=music, ...',
    `dimensions` UInt8 COMMENT 'which: 1 for country, 2 for category, 4 for language, added up',
    `minute` DateTime('UTC') COMMENT 'start of the minute of event time',
    `version` UInt64 COMMENT 'which filling: epoch microseconds when it began',
    `views` UInt64 COMMENT 'of all items of the slice',
    `items` Array(String) COMMENT 'the most viewed, as far as they have more views than floor, and those that are followed',
    `counts` Array(UInt64) COMMENT 'their views',
    `floor` UInt64 COMMENT 'no other item of the slice has more views'
)
ENGINE = ReplacingMergeTree
PARTITION BY toStartOfHour(minute)
ORDER BY (item_type, slice, minute, version)
SETTINGS index_granularity = 16
COMMENT 'most viewed items of slices by minute'

CREATE TABLE topk.topk_10s
(
    `item_type` LowCardinality(String) COMMENT 'video, hashtag, ...',
    `slice` LowCardinality(String) COMMENT 'global, country=IN, ...',
    `bucket` DateTime('UTC') COMMENT 'start of 10 seconds of event time',
    `block` UInt64 COMMENT 'random, names this row',
    `items` Array(Tuple(
        item String,
        count UInt64,
        error UInt64)) COMMENT 'most viewed first, count - error <= truth <= count',
    `floor` UInt64 COMMENT 'no item that is not in items has more views than this in the block',
    `applied` UInt64 COMMENT 'views of all items in the block, replays included'
)
ENGINE = MergeTree
PARTITION BY toStartOfHour(bucket)
ORDER BY (item_type, slice, bucket, block)
SETTINGS index_granularity = 1
COMMENT 'Space-Saving summaries of 10 seconds, a row a block'

CREATE TABLE topk.topk_10s_combined
(
    `item_type` LowCardinality(String) COMMENT 'video, hashtag, ...',
    `slice` LowCardinality(String) COMMENT 'global, country=IN, ...',
    `bucket` DateTime('UTC') COMMENT 'start of 10 seconds of event time',
    `block` UInt64 COMMENT 'random, names this row',
    `absorbed` Array(UInt64) COMMENT 'blocks of the rows that this one stands for, of topk_10s',
    `items` Array(Tuple(
        item String,
        count UInt64,
        error UInt64)) COMMENT 'greatest count first, count - error <= truth <= count',
    `floor` UInt64 COMMENT 'no item that is not in items has more views than this',
    `applied` UInt64 COMMENT 'views of all items, replays included'
)
ENGINE = MergeTree
PARTITION BY toStartOfHour(bucket)
ORDER BY (item_type, slice, bucket, block)
SETTINGS index_granularity = 1
COMMENT 'Space-Saving summaries of 10 seconds, a row a combination'

CREATE MATERIALIZED VIEW topk.topk_10s_mv TO topk.topk_10s
(
    `item_type` LowCardinality(String),
    `slice` String,
    `bucket` DateTime('UTC'),
    `block` UInt64,
    `items` Array(Tuple(
        item String,
        count UInt64,
        error UInt64)),
    `floor` UInt64,
    `applied` UInt64
)
AS SELECT
    item_type,
    slice,
    bucket,
    rand64() AS block,
    arraySlice(ranked, 1, 4000) AS items,
    tupleElement(ranked[4001], 'count') AS floor,
    applied
FROM
(
    SELECT
        item_type,
        'global' AS slice,
        bucket,
        sum(views) AS applied,
        arrayPartialSort(x -> (-toInt64(x.count), x.item), 4001, groupArray(CAST((item_id, views, 0), 'Tuple(item String, count UInt64, error UInt64)'))) AS ranked
    FROM
    (
        SELECT
            item_type,
            item_id,
            toStartOfInterval(second, toIntervalSecond(10)) AS bucket,
            sum(c.n) AS views
        FROM topk.counts_in AS c
        WHERE valid = 1
        GROUP BY
            item_type,
            item_id,
            bucket
    )
    GROUP BY
        item_type,
        bucket
)

CREATE TABLE topk.topk_day
(
    `item_type` LowCardinality(String) COMMENT 'video, hashtag, ...',
    `slice` LowCardinality(String) COMMENT 'global, country=IN, ...',
    `bucket` DateTime('UTC') COMMENT 'start of a day of event time',
    `block` UInt64 COMMENT 'random, names this row',
    `absorbed` Array(UInt64) COMMENT 'blocks of the rows that this one stands for, here and in topk_hour',
    `items` Array(Tuple(
        item String,
        count UInt64,
        error UInt64)) COMMENT 'greatest count first, count - error <= truth <= count',
    `floor` UInt64 COMMENT 'no item that is not in items has more views than this',
    `applied` UInt64 COMMENT 'views of all items, replays included'
)
ENGINE = MergeTree
PARTITION BY toStartOfYear(bucket)
ORDER BY (item_type, slice, bucket, block)
SETTINGS index_granularity = 1
COMMENT 'Space-Saving summaries of a day'

CREATE TABLE topk.topk_hour
(
    `item_type` LowCardinality(String) COMMENT 'video, hashtag, ...',
    `slice` LowCardinality(String) COMMENT 'global, country=IN, ...',
    `bucket` DateTime('UTC') COMMENT 'start of an hour of event time',
    `block` UInt64 COMMENT 'random, names this row',
    `absorbed` Array(UInt64) COMMENT 'blocks of the rows that this one stands for, here and in topk_minute',
    `items` Array(Tuple(
        item String,
        count UInt64,
        error UInt64)) COMMENT 'greatest count first, count - error <= truth <= count',
    `floor` UInt64 COMMENT 'no item that is not in items has more views than this',
    `applied` UInt64 COMMENT 'views of all items, replays included'
)
ENGINE = MergeTree
PARTITION BY toStartOfMonth(bucket)
ORDER BY (item_type, slice, bucket, block)
SETTINGS index_granularity = 1
COMMENT 'Space-Saving summaries of an hour'

CREATE TABLE topk.topk_minute
(
    `item_type` LowCardinality(String) COMMENT 'video, hashtag, ...',
    `slice` LowCardinality(String) COMMENT 'global, country=IN, ...',
    `bucket` DateTime('UTC') COMMENT 'start of a minute of event time',
    `block` UInt64 COMMENT 'random, names this row',
    `absorbed` Array(UInt64) COMMENT 'blocks of the rows that this one stands for, here and in topk_10s',
    `items` Array(Tuple(
        item String,
        count UInt64,
        error UInt64)) COMMENT 'greatest count first, count - error <= truth <= count',
    `floor` UInt64 COMMENT 'no item that is not in items has more views than this',
    `applied` UInt64 COMMENT 'views of all items, replays included'
)
ENGINE = MergeTree
PARTITION BY toDate(bucket)
ORDER BY (item_type, slice, bucket, block)
SETTINGS index_granularity = 1
COMMENT 'Space-Saving summaries of a minute'

CREATE VIEW topk.total_parts
(
    `part` String,
    `bucket` DateTime('UTC'),
    `version` UInt64,
    `sign` Int8
)
COMMENT 'which partitions are all time together, each with its sign'
AS SELECT
    'total' AS part,
    toDateTime(0, 'UTC') AS bucket,
    max(r.version) AS version,
    toInt8(1) AS sign
FROM topk.recounts_total AS r
HAVING version > 0
UNION ALL
SELECT
    'day',
    day,
    version,
    toInt8(1)
FROM topk.day_versions
WHERE holds AND ((day, version) NOT IN (
    SELECT
        day,
        version
    FROM topk.folded_days
))
UNION ALL
SELECT
    'day',
    day,
    version,
    toInt8(-1)
FROM topk.folded_days
WHERE (day, version) NOT IN (
    SELECT
        day,
        version
    FROM topk.day_versions
    WHERE holds
)
UNION ALL
SELECT
    'hour',
    hour,
    version,
    toInt8(1)
FROM topk.hour_versions
WHERE toStartOfDay(hour) NOT IN (
    SELECT day
    FROM topk.day_versions
    WHERE holds
)

CREATE TABLE topk.viewers_hour
(
    `item_type` LowCardinality(String) COMMENT 'video, hashtag, ...',
    `item_id` String COMMENT 'opaque bytes, compared exactly',
    `hour` DateTime('UTC') COMMENT 'start of the hour of event time',
    `viewers` AggregateFunction(uniqCombined(12), String) COMMENT 'as in viewers_minute'
)
ENGINE = AggregatingMergeTree
PARTITION BY toDate(hour)
ORDER BY (item_type, item_id, hour)
SETTINGS index_granularity = 128
COMMENT 'viewers of watched items by hour'

CREATE MATERIALIZED VIEW topk.viewers_hour_mv TO topk.viewers_hour
(
    `item_type` LowCardinality(String),
    `item_id` String,
    `hour` DateTime('UTC'),
    `viewers` AggregateFunction(uniqCombined(12), String)
)
AS SELECT
    item_type,
    item_id,
    toStartOfHour(minute) AS hour,
    uniqCombinedMergeState(12)(m.viewers) AS viewers
FROM topk.viewers_minute AS m
GROUP BY
    item_type,
    item_id,
    hour

CREATE TABLE topk.viewers_minute
(
    `item_type` LowCardinality(String) COMMENT 'video, hashtag, ...',
    `item_id` String COMMENT 'opaque bytes, compared exactly',
    `minute` DateTime('UTC') COMMENT 'start of the minute of event time',
    `viewers` AggregateFunction(uniqCombined(12), String) COMMENT 'distinct viewers, exact while they are few, within 1.6 % else'
)
ENGINE = AggregatingMergeTree
PARTITION BY toStartOfHour(minute)
ORDER BY (item_type, item_id, minute)
SETTINGS index_granularity = 128
COMMENT 'viewers of watched items by minute'

CREATE MATERIALIZED VIEW topk.viewers_minute_mv TO topk.viewers_minute
(
    `item_type` LowCardinality(String),
    `item_id` String,
    `minute` DateTime('UTC'),
    `viewers` AggregateFunction(uniqCombined(12), String)
)
AS SELECT
    item_type,
    item_id,
    toStartOfMinute(toDateTime(event_time, 'UTC')) AS minute,
    uniqCombinedState(12)(viewer) AS viewers
FROM topk.events
WHERE empty(flags) AND ((item_type, item_id) IN (
    SELECT
        item_type,
        item_id
    FROM topk.watched_items
    WHERE version IN (
        SELECT max(version)
        FROM topk.watched_items
    )
))
GROUP BY
    item_type,
    item_id,
    minute

CREATE TABLE topk.watched_items
(
    `version` UInt64 COMMENT 'epoch microseconds when the version was begun',
    `item_type` LowCardinality(String) COMMENT 'video, hashtag, ...',
    `item_id` String COMMENT 'opaque bytes, compared exactly',
    `minutes_since` DateTime('UTC') DEFAULT toDateTime(4294967295, 'UTC') COMMENT 'viewers_minute holds all its viewers from then on, the least of its rows counts',
    `hours_since` DateTime('UTC') DEFAULT toDateTime(4294967295, 'UTC') COMMENT 'the same of viewers_hour',
    `made` DateTime('UTC') DEFAULT now() COMMENT 'wall clock of ClickHouse'
)
ENGINE = MergeTree
PARTITION BY toStartOfTenMinutes(made)
ORDER BY (version, item_type, item_id)
TTL made + toIntervalHour(1)
SETTINGS ttl_only_drop_parts = 1, index_granularity = 8192
COMMENT 'items whose viewers are counted'

