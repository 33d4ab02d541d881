DROP VIEW topk.events_queue_mv SYNC
