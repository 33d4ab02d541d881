DROP VIEW topk.folded_days SYNC
