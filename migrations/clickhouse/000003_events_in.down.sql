DROP TABLE topk.events_in SYNC
