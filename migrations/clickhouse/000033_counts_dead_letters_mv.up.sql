-- counts_faults -> dead_letters: what counts_queue_mv found at fault, and why.
CREATE MATERIALIZED VIEW topk.counts_dead_letters_mv TO topk.dead_letters AS
SELECT sent_at AS received_at, topic, partition, offset,
       if(fault != 'row', raw, substring(toJSONString(map('item_type', toString(item_type), 'item_id', item_id,
           'country', toString(country), 'category', toString(category), 'language', toString(language),
           'second', toString(second), 'n', toString(n), 'ingestor', toString(ingestor), 'sequence', toString(sequence))), 1, 65536)) AS raw,
       if(fault != 'row', fault, topk_count_fault(item_type, item_id, second, n)) AS error
FROM topk.counts_faults
