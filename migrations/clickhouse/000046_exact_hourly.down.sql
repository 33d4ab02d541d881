DROP VIEW topk.exact_hourly SYNC
