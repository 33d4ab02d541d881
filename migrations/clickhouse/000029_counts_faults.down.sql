DROP TABLE topk.counts_faults SYNC
