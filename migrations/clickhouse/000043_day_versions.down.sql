DROP VIEW topk.day_versions SYNC
