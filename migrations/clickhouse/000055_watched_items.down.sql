DROP TABLE topk.watched_items SYNC
