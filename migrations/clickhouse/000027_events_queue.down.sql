DROP TABLE topk.events_queue SYNC
