DROP TABLE topk.topk_day SYNC
