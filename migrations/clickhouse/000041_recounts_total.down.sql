DROP TABLE topk.recounts_total SYNC
