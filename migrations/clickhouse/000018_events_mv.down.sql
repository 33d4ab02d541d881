DROP VIEW topk.events_mv SYNC
