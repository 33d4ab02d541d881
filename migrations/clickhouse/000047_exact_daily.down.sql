DROP VIEW topk.exact_daily SYNC
