DROP TABLE topk.cms_day SYNC
