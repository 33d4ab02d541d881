DROP TABLE topk.topk_hour SYNC
