DROP VIEW topk.events_progress_mv SYNC
