-- Takes the lock of all migrations if it is free.
SELECT pg_try_advisory_lock($1)
