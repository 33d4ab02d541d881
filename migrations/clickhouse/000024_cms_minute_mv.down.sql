DROP VIEW topk.cms_minute_mv SYNC
