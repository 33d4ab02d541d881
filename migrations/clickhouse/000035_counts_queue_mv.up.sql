-- counts_queue -> counts_in: the only view that reads the queue, made after every view of counts_in. A queue is read as
-- soon as one view reads it, and what another view missed by then would be lost to it.
-- A message is one row of arrays. One without rows, or at fault as a whole, becomes one row that is not valid.
-- Every block pays for the planning of this text, by the expression and by the use of a name: hence few of both, and subqueries
-- where a name is used twice. What is wrong with a row is said behind counts_faults.
-- max_block_size: the join cuts its output there, at the end of a message, and a block must stay one block behind it: it is
-- never met. query_plan_lift_up_array_join would work out for each row what is the same for a message.
CREATE MATERIALIZED VIEW topk.counts_queue_mv TO topk.counts_in AS
SELECT item_type, item_id, country, category, language, second, n, ingestor, sequence,
       topic, partition, offset, partitions, watermark, closed, sent_at,
       nth > 0 AND good AS valid, multiIf(nth = 0, message_fault, good, '', 'row') AS fault, raw
FROM
(
    SELECT toLowCardinality(type) AS item_type, item_id, country, category, language, second, n, nth,
           topk_valid_count(item_type, item_id, second, n) AS good,
           ingestor, sequence, topic, partition, offset, partitions, watermark, closed, sent_at, message_fault, raw
    FROM
    (
        SELECT q.item_type AS types, q.item_id AS ids, q.country AS countries, q.category AS categories, q.language AS languages,
               q.second AS seconds, q.n AS ns, toLowCardinality(q.ingestor) AS ingestor, q.sequence AS sequence,
               toLowCardinality(_topic) AS topic, toUInt32(_partition) AS partition, toInt64(_offset) AS offset,
               toUInt32(topk_header_uint(_headers.name, _headers.value, 'partitions')) AS partitions,
               fromUnixTimestamp64Milli(toInt64(topk_header_uint(_headers.name, _headers.value, 'watermark')), 'UTC') AS watermark,
               toUInt8(topk_header_uint(_headers.name, _headers.value, 'closed')) AS closed,
               toDateTime64(ifNull(_timestamp_ms, 0), 3, 'UTC') AS sent_at,
               multiIf(_error != '', _error, q.ingestor = '', 'ingestor: empty',
                       length(arrayDistinct([length(q.item_type), length(q.item_id), length(q.country), length(q.category),
                           length(q.language), length(q.second), length(q.n)])) > 1, 'arrays: not of one length', '') AS message_fault,
               if(message_fault = '', '', substring(if(_error != '', _raw_message, toJSONString(tuple(q.item_type, q.item_id, q.country,
                   q.category, q.language, q.second, q.n, q.ingestor, q.sequence))), 1, 65536)) AS raw
        FROM topk.counts_queue AS q
    )
    LEFT ARRAY JOIN if(message_fault = '', types, []) AS type, if(message_fault = '', ids, []) AS item_id,
                    if(message_fault = '', countries, []) AS country, if(message_fault = '', categories, []) AS category,
                    if(message_fault = '', languages, []) AS language, if(message_fault = '', seconds, []) AS second,
                    if(message_fault = '', ns, []) AS n, arrayEnumerate(if(message_fault = '', ns, [])) AS nth
)
SETTINGS max_block_size = 1000000000, query_plan_lift_up_array_join = 0
