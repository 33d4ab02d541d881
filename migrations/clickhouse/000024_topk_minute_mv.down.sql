DROP VIEW topk.topk_minute_mv SYNC
