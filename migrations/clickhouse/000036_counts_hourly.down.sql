DROP TABLE topk.counts_hourly SYNC
