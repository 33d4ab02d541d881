DROP VIEW topk.cms_hour_mv SYNC
