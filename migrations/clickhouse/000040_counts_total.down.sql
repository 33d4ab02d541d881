DROP TABLE topk.counts_total SYNC
