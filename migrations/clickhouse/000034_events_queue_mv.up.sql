-- events_queue -> events_in: the only view that reads the queue, made after every view of events_in. A queue is read as
-- soon as one view reads it, and what another view missed by then would be lost to it.
-- A message is one row of arrays. One without events, or at fault as a whole, becomes one row that is not valid.
-- Every block pays for the planning of this text, by the expression and by the use of a name: hence few of both, and subqueries
-- where a name is used twice. What is wrong with a row is said behind events_faults.
-- max_block_size: the join cuts its output there, at the end of a message, and a block must stay one block behind it: it is
-- never met. query_plan_lift_up_array_join would work out for each row what is the same for a message.
CREATE MATERIALIZED VIEW topk.events_queue_mv TO topk.events_in AS
SELECT event_id, item_type, item_id, event_time, country, category, language, viewer, flags, stamped, ingestor,
       topic, partition, offset, partitions, watermark, closed, sent_at,
       nth > 0 AND good AS valid, multiIf(nth = 0, message_fault, good, '', 'row') AS fault, raw
FROM
(
    SELECT event_id, toLowCardinality(type) AS item_type, item_id, event_time, country, category, language, viewer, flags, stamped, nth,
           topk_valid_event(item_type, item_id, event_time, event_id) AS good,
           ingestor, topic, partition, offset, partitions, watermark, closed, sent_at, message_fault, raw
    FROM
    (
        SELECT q.event_id AS event_ids, q.item_type AS types, q.item_id AS ids, q.event_time AS times, q.country AS countries,
               q.category AS categories, q.language AS languages, q.viewer AS viewers, q.flags AS flag_lists, q.stamped AS stamps,
               toLowCardinality(q.ingestor) AS ingestor,
               toLowCardinality(_topic) AS topic, toUInt32(_partition) AS partition, toInt64(_offset) AS offset,
               toUInt32(topk_header_uint(_headers.name, _headers.value, 'partitions')) AS partitions,
               fromUnixTimestamp64Milli(toInt64(topk_header_uint(_headers.name, _headers.value, 'watermark')), 'UTC') AS watermark,
               toUInt8(topk_header_uint(_headers.name, _headers.value, 'closed')) AS closed,
               toDateTime64(ifNull(_timestamp_ms, 0), 3, 'UTC') AS sent_at,
               multiIf(_error != '', _error, q.ingestor = '', 'ingestor: empty',
                       length(arrayDistinct([length(q.event_id), length(q.item_type), length(q.item_id), length(q.event_time),
                           length(q.country), length(q.category), length(q.language), length(q.viewer), length(q.flags), length(q.stamped)])) > 1,
                       'arrays: not of one length', '') AS message_fault,
               if(message_fault = '', '', substring(if(_error != '', _raw_message, toJSONString(tuple(q.event_id, q.item_type, q.item_id,
                   q.event_time, q.country, q.category, q.language, q.viewer, q.flags, q.stamped, q.ingestor))), 1, 65536)) AS raw
        FROM topk.events_queue AS q
    )
    LEFT ARRAY JOIN if(message_fault = '', event_ids, []) AS event_id, if(message_fault = '', types, []) AS type,
                    if(message_fault = '', ids, []) AS item_id, if(message_fault = '', times, []) AS event_time,
                    if(message_fault = '', countries, []) AS country, if(message_fault = '', categories, []) AS category,
                    if(message_fault = '', languages, []) AS language, if(message_fault = '', viewers, []) AS viewer,
                    if(message_fault = '', flag_lists, []) AS flags, if(message_fault = '', stamps, []) AS stamped,
                    arrayEnumerate(if(message_fault = '', event_ids, [])) AS nth
)
SETTINGS max_block_size = 1000000000, query_plan_lift_up_array_join = 0
