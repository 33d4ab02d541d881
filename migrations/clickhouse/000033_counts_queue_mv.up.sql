-- counts_queue -> counts_in: the only view that reads the queue, made after every view of counts_in. A queue is read as
-- soon as one view reads it, and what another view missed by then would be lost to it.
-- Rows at fault go through as well, for dead_letters: they have a fault and n = 0, like a heartbeat.
CREATE MATERIALIZED VIEW topk.counts_queue_mv TO topk.counts_in AS
SELECT q.item_type AS item_type, q.item_id AS item_id, q.country AS country, q.category AS category,
       q.language AS language, q.second AS second, if(fault = '', q.n, 0) AS n, q.ingestor AS ingestor,
       q.sequence AS sequence,
       _topic AS topic, toUInt32(_partition) AS partition, toInt64(_offset) AS offset,
       topk_header_uint(_headers.name, _headers.value, 'partitions') AS partitions,
       fromUnixTimestamp64Milli(toInt64(topk_header_uint(_headers.name, _headers.value, 'watermark')), 'UTC') AS watermark,
       topk_header_uint(_headers.name, _headers.value, 'closed') AS closed,
       toDateTime64(ifNull(_timestamp_ms, 0), 3, 'UTC') AS sent_at,
       multiIf(length(_error) > 0, _error,
               q.ingestor = '', 'ingestor: empty',
               q.item_type = '' AND q.n = 0 OR topk_valid_count(q.item_type, q.item_id, q.second, q.n), '',
               topk_count_fault(q.item_type, q.item_id, q.second, q.n)) AS fault,
       multiIf(fault = '', '',
               length(_error) > 0, substring(_raw_message, 1, 65536),
               substring(toJSONString(map(
                   'item_type', q.item_type, 'item_id', q.item_id, 'country', q.country, 'category', q.category,
                   'language', q.language, 'second', toString(q.second), 'n', toString(q.n), 'ingestor', q.ingestor,
                   'sequence', toString(q.sequence))), 1, 65536)) AS raw
FROM topk.counts_queue AS q
