DROP VIEW topk.exact_total SYNC
