DROP TABLE topk.viewers_minute SYNC
