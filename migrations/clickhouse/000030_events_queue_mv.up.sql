-- events_queue -> events_in: the only view that reads the queue, made after every view of events_in. A queue is read as
-- soon as one view reads it, and what another view missed by then would be lost to it.
-- A message is one row of arrays, as in counts_queue_mv. A message without events, or at fault as a whole, is one row
-- without an item type.
-- clean: every event of the message passes topk_valid_event, told from whole arrays as in counts_queue_mv.
-- Rows at fault go through as well, for dead_letters: they have a fault and no item type, like a heartbeat.
CREATE MATERIALIZED VIEW topk.events_queue_mv TO topk.events_in AS
SELECT name AS event_id, if(row_fault = '', type, '') AS item_type, id AS item_id, at AS event_time, land AS country,
       kind AS category, tongue AS language, who AS viewer, marks AS flags, stamp AS stamped, ingestor,
       topic, partition, offset, partitions, watermark, closed, sent_at,
       if(message_fault != '', message_fault, row_fault) AS fault, if(message_fault != '', message_raw, row_raw) AS raw
FROM
(
    SELECT toLowCardinality(q.ingestor) AS ingestor,
           toLowCardinality(_topic) AS topic, toUInt32(_partition) AS partition, toInt64(_offset) AS offset,
           toUInt32(topk_header_uint(_headers.name, _headers.value, 'partitions')) AS partitions,
           fromUnixTimestamp64Milli(toInt64(topk_header_uint(_headers.name, _headers.value, 'watermark')), 'UTC') AS watermark,
           toUInt8(topk_header_uint(_headers.name, _headers.value, 'closed')) AS closed,
           toDateTime64(ifNull(_timestamp_ms, 0), 3, 'UTC') AS sent_at,
           length(q.item_id) AS rows,
           multiIf(length(_error) > 0, _error,
                   q.ingestor = '', 'ingestor: empty',
                   length(q.event_id) != rows OR length(q.item_type) != rows OR length(q.event_time) != rows
                       OR length(q.country) != rows OR length(q.category) != rows OR length(q.language) != rows
                       OR length(q.viewer) != rows OR length(q.flags) != rows OR length(q.stamped) != rows,
                   'arrays: not of one length', '') AS message_fault,
           multiIf(message_fault = '', '',
                   length(_error) > 0, substring(_raw_message, 1, 65536),
                   substring(toJSONString(map(
                       'event_id', toString(q.event_id), 'item_type', toString(q.item_type), 'item_id', toString(q.item_id),
                       'event_time', toString(q.event_time), 'country', toString(q.country),
                       'category', toString(q.category), 'language', toString(q.language), 'viewer', toString(q.viewer),
                       'flags', toString(q.flags), 'stamped', toString(q.stamped), 'ingestor', q.ingestor)), 1, 65536)) AS message_raw,
           arrayStringConcat(q.item_id, ',') AS all_ids,
           least(message_fault = '', isValidUTF8(all_ids), NOT match(all_ids, '[\\x00-\\x1f\\x7f]'),
                 arrayMin(x -> length(x), q.item_id) >= 1, arrayMax(x -> length(x), q.item_id) <= 256,
                 arrayMin(x -> length(x), q.event_id) >= 1, arrayMax(x -> length(x), q.event_id) <= 64,
                 arrayAll(x -> match(x, '^[a-z][a-z0-9_]{0,31}$'), arrayDistinct(q.item_type)),
                 arrayMin(x -> toUnixTimestamp64Milli(x), q.event_time) >= 1,
                 arrayMax(x -> toUnixTimestamp64Milli(x), q.event_time) <= 4102444799999) AS clean,
           if(message_fault = '', q.event_id, []) AS event_ids,
           if(message_fault = '', q.item_type, []) AS item_types,
           if(message_fault = '', q.item_id, []) AS item_ids,
           if(message_fault = '', q.event_time, []) AS event_times,
           if(message_fault = '', q.country, []) AS countries,
           if(message_fault = '', q.category, []) AS categories,
           if(message_fault = '', q.language, []) AS languages,
           if(message_fault = '', q.viewer, []) AS viewers,
           if(message_fault = '', q.flags, []) AS flag_lists,
           if(message_fault = '', q.stamped, []) AS stamps,
           arrayResize(if(clean, [], arrayMap((type, id, at, name) ->
               if(type = '' OR topk_valid_event(type, id, at, name), '', topk_event_fault(type, id, at, name)),
               item_types, item_ids, event_times, event_ids)), length(event_ids)) AS faults,
           arrayResize(if(clean, [], arrayMap((name, type, id, at, land, kind, tongue, who, marks, wrong) -> if(wrong = '', '',
               substring(toJSONString(map('event_id', name, 'item_type', type, 'item_id', id, 'event_time', toString(at),
                   'country', land, 'category', kind, 'language', tongue, 'viewer', who, 'flags', toString(marks),
                   'ingestor', q.ingestor)), 1, 65536)),
               event_ids, item_types, item_ids, event_times, countries, categories, languages, viewers, flag_lists,
               faults)), length(event_ids)) AS raws
    FROM topk.events_queue AS q
) AS q
LEFT ARRAY JOIN event_ids AS name, item_types AS type, item_ids AS id, event_times AS at, countries AS land,
                categories AS kind, languages AS tongue, viewers AS who, flag_lists AS marks,
                stamps AS stamp, faults AS row_fault, raws AS row_raw
SETTINGS max_block_size = 1000000000, query_plan_lift_up_array_join = 0
