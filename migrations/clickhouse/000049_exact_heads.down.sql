DROP TABLE topk.exact_heads SYNC
