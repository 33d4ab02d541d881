DROP VIEW topk.counts_queue_mv SYNC
