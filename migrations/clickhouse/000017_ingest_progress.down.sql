DROP TABLE topk.ingest_progress SYNC
