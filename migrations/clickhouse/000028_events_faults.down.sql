DROP TABLE topk.events_faults SYNC
