DROP TABLE topk.counts_second SYNC
