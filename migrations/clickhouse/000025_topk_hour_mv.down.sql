DROP VIEW topk.topk_hour_mv SYNC
