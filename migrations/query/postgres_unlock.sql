-- Frees the lock of all migrations before the session ends, so that the next one need not wait for that.
SELECT pg_advisory_unlock($1)
