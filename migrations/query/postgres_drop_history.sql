-- Last step of a whole `down`: no step is recorded as applied any more.
DROP TABLE IF EXISTS schema_migrations
