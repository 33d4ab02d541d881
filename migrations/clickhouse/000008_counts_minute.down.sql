DROP TABLE topk.counts_minute SYNC
