DROP TABLE topk.filled_minutes SYNC
