DROP VIEW topk.viewers_hour_mv SYNC
