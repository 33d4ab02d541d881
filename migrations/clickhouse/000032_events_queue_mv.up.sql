-- events_queue -> events_in: the only view that reads the queue, made after every view of events_in. A queue is read as
-- soon as one view reads it, and what another view missed by then would be lost to it.
-- Rows at fault go through as well, for dead_letters: they have a fault and no item type, like a heartbeat.
CREATE MATERIALIZED VIEW topk.events_queue_mv TO topk.events_in AS
SELECT q.event_id AS event_id, if(fault = '', q.item_type, '') AS item_type, q.item_id AS item_id,
       q.event_time AS event_time, q.country AS country, q.category AS category, q.language AS language,
       q.viewer AS viewer, q.flags AS flags, q.ingestor AS ingestor,
       _topic AS topic, toUInt32(_partition) AS partition, toInt64(_offset) AS offset,
       topk_header_uint(_headers.name, _headers.value, 'partitions') AS partitions,
       fromUnixTimestamp64Milli(toInt64(topk_header_uint(_headers.name, _headers.value, 'watermark')), 'UTC') AS watermark,
       topk_header_uint(_headers.name, _headers.value, 'closed') AS closed,
       toDateTime64(ifNull(_timestamp_ms, 0), 3, 'UTC') AS sent_at,
       multiIf(length(_error) > 0, _error,
               q.ingestor = '', 'ingestor: empty',
               q.item_type = '' OR topk_valid_event(q.item_type, q.item_id, q.event_time, q.event_id), '',
               topk_event_fault(q.item_type, q.item_id, q.event_time, q.event_id)) AS fault,
       multiIf(fault = '', '',
               length(_error) > 0, substring(_raw_message, 1, 65536),
               substring(toJSONString(map(
                   'event_id', q.event_id, 'item_type', q.item_type, 'item_id', q.item_id,
                   'event_time', toString(q.event_time), 'country', q.country, 'category', q.category,
                   'language', q.language, 'viewer', q.viewer, 'flags', toString(q.flags),
                   'ingestor', q.ingestor)), 1, 65536)) AS raw
FROM topk.events_queue AS q
