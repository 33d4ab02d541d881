DROP TABLE topk.dead_letters SYNC
