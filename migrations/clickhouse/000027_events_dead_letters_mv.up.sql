-- events_in -> dead_letters: what events_queue_mv found at fault.
CREATE MATERIALIZED VIEW topk.events_dead_letters_mv TO topk.dead_letters AS
SELECT sent_at AS received_at, topic, partition, offset, raw, fault AS error
FROM topk.events_in
WHERE fault != ''
