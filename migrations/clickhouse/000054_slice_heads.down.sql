DROP TABLE topk.slice_heads SYNC
