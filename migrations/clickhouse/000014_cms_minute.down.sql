DROP TABLE topk.cms_minute SYNC
