DROP TABLE topk.recounts_daily SYNC
