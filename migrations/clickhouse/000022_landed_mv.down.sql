DROP VIEW topk.landed_mv SYNC
