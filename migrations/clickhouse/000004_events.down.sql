DROP TABLE topk.events SYNC
