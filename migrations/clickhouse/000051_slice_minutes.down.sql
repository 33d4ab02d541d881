DROP TABLE topk.slice_minutes SYNC
