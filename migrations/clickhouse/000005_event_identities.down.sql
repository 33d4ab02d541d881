DROP TABLE topk.event_identities SYNC
