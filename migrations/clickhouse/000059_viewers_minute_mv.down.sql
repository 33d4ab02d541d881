DROP VIEW topk.viewers_minute_mv SYNC
