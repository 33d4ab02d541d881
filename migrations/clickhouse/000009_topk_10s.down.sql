DROP TABLE topk.topk_10s SYNC
