-- events_faults -> dead_letters: what events_queue_mv found at fault, and why.
CREATE MATERIALIZED VIEW topk.events_dead_letters_mv TO topk.dead_letters AS
SELECT sent_at AS received_at, topic, partition, offset,
       if(fault != 'row', raw, substring(toJSONString(map('event_id', event_id, 'item_type', toString(item_type), 'item_id', item_id,
           'event_time', toString(event_time), 'country', toString(country), 'category', toString(category),
           'language', toString(language), 'viewer', viewer, 'flags', toString(flags), 'stamped', toString(stamped), 'ingestor', toString(ingestor))), 1, 65536)) AS raw,
       if(fault != 'row', fault, topk_event_fault(item_type, item_id, event_time, event_id)) AS error
FROM topk.events_faults
