-- counts_queue -> dead_letters: what could not be parsed, and rows that no ingestor would send.
CREATE MATERIALIZED VIEW topk.counts_dead_letters_mv TO topk.dead_letters AS
SELECT toDateTime64(ifNull(_timestamp_ms, 0), 3, 'UTC') AS received_at, _topic AS topic,
       toUInt32(_partition) AS partition, toInt64(_offset) AS offset,
       if(length(_error) > 0, _raw_message, toJSONString(tuple(item_type, item_id))) AS raw,
       if(length(_error) > 0, _error, 'a value out of range') AS error
FROM topk.counts_queue
WHERE length(_error) > 0 OR NOT (n = 0 OR topk_valid_count(item_type, item_id, second, n))
