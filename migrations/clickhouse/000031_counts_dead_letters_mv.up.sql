-- counts_queue -> dead_letters: what could not be parsed, and rows that no ingestor would send. A row without an item type
-- and with n = 0 is a heartbeat.
CREATE MATERIALIZED VIEW topk.counts_dead_letters_mv TO topk.dead_letters AS
SELECT toDateTime64(ifNull(_timestamp_ms, 0), 3, 'UTC') AS received_at, _topic AS topic,
       toUInt32(_partition) AS partition, toInt64(_offset) AS offset,
       substring(if(length(_error) > 0, _raw_message, toJSONString(map(
           'item_type', item_type, 'item_id', item_id, 'country', country, 'category', category, 'language', language,
           'second', toString(second), 'n', toString(n), 'ingestor', ingestor, 'sequence', toString(sequence)
           ))), 1, 65536) AS raw,
       if(length(_error) > 0, _error, if(ingestor = '', 'ingestor: empty', topk_count_fault(item_type, item_id, second, n))) AS error
FROM topk.counts_queue
WHERE length(_error) > 0 OR ingestor = ''
   OR NOT (item_type = '' AND n = 0 OR topk_valid_count(item_type, item_id, second, n))
