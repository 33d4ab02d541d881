DROP TABLE topk.viewers_hour SYNC
