-- events_queue -> dead_letters: what could not be parsed, and rows that no ingestor would send.
CREATE MATERIALIZED VIEW topk.events_dead_letters_mv TO topk.dead_letters AS
SELECT toDateTime64(ifNull(_timestamp_ms, 0), 3, 'UTC') AS received_at, _topic AS topic,
       toUInt32(_partition) AS partition, toInt64(_offset) AS offset,
       if(length(_error) > 0, _raw_message, toJSONString(tuple(item_type, item_id))) AS raw,
       if(length(_error) > 0, _error, 'a value out of range') AS error
FROM topk.events_queue
WHERE length(_error) > 0 OR NOT (item_type = '' OR topk_valid_event(item_type, item_id, event_time, event_id))
