-- counts_queue -> counts_in: the only view that reads the queue, made after every view of counts_in. A queue is read as
-- soon as one view reads it, and what another view missed by then would be lost to it.
-- A message is one row of arrays. What is the same for all of its rows is worked out once, then the arrays are joined. A
-- message without rows, or at fault as a whole, is one row with n = 0.
-- clean: every row of the message passes topk_valid_count, told from whole arrays (an id that is cut short does not become
-- valid before a comma), which costs a tenth of asking row by row. Rows are looked at one by one only where it is 0:
-- in a lambda, because the engine works out both branches of an if whose parts are shared.
-- least, not AND, which would copy arrays to spare an argument that is nearly always needed.
-- max_block_size: the join cuts its output there, at the end of a message, and a block must stay one block behind it: it is
-- never met. query_plan_lift_up_array_join would work out for each row what is the same for a message.
-- Rows at fault go through as well, for dead_letters: they have a fault and n = 0, like a heartbeat.
CREATE MATERIALIZED VIEW topk.counts_queue_mv TO topk.counts_in AS
SELECT type AS item_type, id AS item_id, land AS country, kind AS category, tongue AS language,
       at AS second, if(row_fault = '', views, 0) AS n, ingestor, sequence,
       topic, partition, offset, partitions, watermark, closed, sent_at,
       if(message_fault != '', message_fault, row_fault) AS fault, if(message_fault != '', message_raw, row_raw) AS raw
FROM
(
    SELECT toLowCardinality(q.ingestor) AS ingestor, q.sequence AS sequence,
           toLowCardinality(_topic) AS topic, toUInt32(_partition) AS partition, toInt64(_offset) AS offset,
           toUInt32(topk_header_uint(_headers.name, _headers.value, 'partitions')) AS partitions,
           fromUnixTimestamp64Milli(toInt64(topk_header_uint(_headers.name, _headers.value, 'watermark')), 'UTC') AS watermark,
           toUInt8(topk_header_uint(_headers.name, _headers.value, 'closed')) AS closed,
           toDateTime64(ifNull(_timestamp_ms, 0), 3, 'UTC') AS sent_at,
           length(q.item_id) AS rows,
           multiIf(length(_error) > 0, _error,
                   q.ingestor = '', 'ingestor: empty',
                   length(q.item_type) != rows OR length(q.country) != rows OR length(q.category) != rows
                       OR length(q.language) != rows OR length(q.second) != rows OR length(q.n) != rows,
                   'arrays: not of one length', '') AS message_fault,
           multiIf(message_fault = '', '',
                   length(_error) > 0, substring(_raw_message, 1, 65536),
                   substring(toJSONString(map(
                       'item_type', toString(q.item_type), 'item_id', toString(q.item_id), 'country', toString(q.country),
                       'category', toString(q.category), 'language', toString(q.language), 'second', toString(q.second),
                       'n', toString(q.n), 'ingestor', q.ingestor, 'sequence', toString(q.sequence))), 1, 65536)) AS message_raw,
           arrayStringConcat(q.item_id, ',') AS all_ids,
           least(message_fault = '', isValidUTF8(all_ids), NOT match(all_ids, '[\\x00-\\x1f\\x7f]'),
                 arrayMin(x -> length(x), q.item_id) >= 1, arrayMax(x -> length(x), q.item_id) <= 256,
                 arrayAll(x -> match(x, '^[a-z][a-z0-9_]{0,31}$'), arrayDistinct(q.item_type)),
                 arrayMin(x -> toUnixTimestamp(x), q.second) >= 1, arrayMax(x -> toUnixTimestamp(x), q.second) <= 4102444799,
                 arrayMin(q.n) >= 1, arrayMax(q.n) <= 1000000000) AS clean,
           if(message_fault = '', q.item_type, []) AS item_types,
           if(message_fault = '', q.item_id, []) AS item_ids,
           if(message_fault = '', q.country, []) AS countries,
           if(message_fault = '', q.category, []) AS categories,
           if(message_fault = '', q.language, []) AS languages,
           if(message_fault = '', q.second, []) AS seconds,
           if(message_fault = '', q.n, []) AS ns,
           arrayResize(if(clean, [], arrayMap((type, id, at, views) ->
               if(type = '' AND views = 0 OR topk_valid_count(type, id, at, views), '', topk_count_fault(type, id, at, views)),
               item_types, item_ids, seconds, ns)), length(ns)) AS faults,
           arrayResize(if(clean, [], arrayMap((type, id, land, kind, tongue, at, views, wrong) -> if(wrong = '', '',
               substring(toJSONString(map('item_type', type, 'item_id', id, 'country', land, 'category', kind, 'language', tongue,
                   'second', toString(at), 'n', toString(views), 'ingestor', q.ingestor, 'sequence', toString(q.sequence))),
                   1, 65536)),
               item_types, item_ids, countries, categories, languages, seconds, ns, faults)), length(ns)) AS raws
    FROM topk.counts_queue AS q
) AS q
LEFT ARRAY JOIN item_types AS type, item_ids AS id, countries AS land, categories AS kind, languages AS tongue,
                seconds AS at, ns AS views, faults AS row_fault, raws AS row_raw
SETTINGS max_block_size = 1000000000, query_plan_lift_up_array_join = 0
