DROP VIEW topk.topk_10s_mv SYNC
