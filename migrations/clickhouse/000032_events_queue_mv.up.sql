-- events_queue -> events_in. Created after every view of events_in, so no block can miss one.
CREATE MATERIALIZED VIEW topk.events_queue_mv TO topk.events_in AS
SELECT event_id, item_type, item_id, event_time, country, category, language, viewer, flags, ingestor,
       _topic AS topic, toUInt32(_partition) AS partition, toInt64(_offset) AS offset,
       topk_header_uint(_headers.name, _headers.value, 'partitions') AS partitions,
       fromUnixTimestamp64Milli(toInt64(topk_header_uint(_headers.name, _headers.value, 'watermark')), 'UTC') AS watermark,
       topk_header_uint(_headers.name, _headers.value, 'closed') AS closed,
       toDateTime64(ifNull(_timestamp_ms, 0), 3, 'UTC') AS sent_at
FROM topk.events_queue
WHERE length(_error) = 0 AND ingestor != '' AND (item_type = '' OR topk_valid_event(item_type, item_id, event_time, event_id))
