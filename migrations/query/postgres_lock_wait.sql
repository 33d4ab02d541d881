-- Takes the lock of all migrations, within lock_timeout.
SELECT pg_advisory_lock($1)
