DROP TABLE topk.topk_minute SYNC
