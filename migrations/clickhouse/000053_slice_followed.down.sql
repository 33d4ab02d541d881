DROP TABLE topk.slice_followed SYNC
