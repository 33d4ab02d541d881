DROP VIEW topk.hour_versions SYNC
