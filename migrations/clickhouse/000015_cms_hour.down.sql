DROP TABLE topk.cms_hour SYNC
