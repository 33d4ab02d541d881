DROP VIEW topk.cms_day_mv SYNC
