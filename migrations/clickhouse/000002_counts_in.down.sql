DROP TABLE topk.counts_in SYNC
