DROP VIEW topk.counts_progress_mv SYNC
