DROP TABLE topk.counts_queue SYNC
