DROP TABLE topk.counts_daily SYNC
