-- counts_queue -> counts_in. Created after every view of counts_in, so no block can miss one.
CREATE MATERIALIZED VIEW topk.counts_queue_mv TO topk.counts_in AS
SELECT item_type, item_id, country, category, language, second, n, ingestor, sequence,
       _topic AS topic, toUInt32(_partition) AS partition, toInt64(_offset) AS offset,
       topk_header_uint(_headers.name, _headers.value, 'partitions') AS partitions,
       fromUnixTimestamp64Milli(toInt64(topk_header_uint(_headers.name, _headers.value, 'watermark')), 'UTC') AS watermark,
       topk_header_uint(_headers.name, _headers.value, 'closed') AS closed,
       toDateTime64(ifNull(_timestamp_ms, 0), 3, 'UTC') AS sent_at
FROM topk.counts_queue
WHERE length(_error) = 0 AND ingestor != ''
  AND (item_type = '' AND n = 0 OR topk_valid_count(item_type, item_id, second, n))
