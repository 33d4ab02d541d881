-- Take the lock of the active rollup worker, for as long as this connection lives; PostgreSQL. The key is the text topk.
-- Parameters: none. Rows: whether it was taken.
SELECT pg_try_advisory_lock(hashtextextended('topk rollup worker', 0))
