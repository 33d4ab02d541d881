-- counts_in -> dead_letters: what counts_queue_mv found at fault.
CREATE MATERIALIZED VIEW topk.counts_dead_letters_mv TO topk.dead_letters AS
SELECT sent_at AS received_at, topic, partition, offset, raw, fault AS error
FROM topk.counts_in
WHERE fault != ''
