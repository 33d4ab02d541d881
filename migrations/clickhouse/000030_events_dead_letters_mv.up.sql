-- events_queue -> dead_letters: what could not be parsed, and rows that no ingestor would send. A row without an item type
-- is a heartbeat.
CREATE MATERIALIZED VIEW topk.events_dead_letters_mv TO topk.dead_letters AS
SELECT toDateTime64(ifNull(_timestamp_ms, 0), 3, 'UTC') AS received_at, _topic AS topic,
       toUInt32(_partition) AS partition, toInt64(_offset) AS offset,
       substring(if(length(_error) > 0, _raw_message, toJSONString(map(
           'event_id', event_id, 'item_type', item_type, 'item_id', item_id, 'event_time', toString(event_time),
           'country', country, 'category', category, 'language', language, 'viewer', viewer,
           'flags', toString(flags), 'ingestor', ingestor))), 1, 65536) AS raw,
       if(length(_error) > 0, _error, if(ingestor = '', 'ingestor: empty', topk_event_fault(item_type, item_id, event_time, event_id))) AS error
FROM topk.events_queue
WHERE length(_error) > 0 OR ingestor = ''
   OR NOT (item_type = '' OR topk_valid_event(item_type, item_id, event_time, event_id))
