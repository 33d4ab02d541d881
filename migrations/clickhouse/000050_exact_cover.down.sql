DROP VIEW topk.exact_cover SYNC
