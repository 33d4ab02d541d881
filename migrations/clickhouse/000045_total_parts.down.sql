DROP VIEW topk.total_parts SYNC
