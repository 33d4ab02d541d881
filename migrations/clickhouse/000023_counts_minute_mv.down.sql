DROP VIEW topk.counts_minute_mv SYNC
