DROP TABLE topk.topk_10s_combined SYNC
