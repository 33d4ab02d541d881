DROP TABLE topk.landed SYNC
