-- Last but one step of a whole `down`: no step is recorded as applied any more.
DROP TABLE IF EXISTS topk.schema_migrations SYNC
