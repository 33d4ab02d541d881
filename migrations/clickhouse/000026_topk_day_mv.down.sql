DROP VIEW topk.topk_day_mv SYNC
