DROP TABLE topk.recounts SYNC
