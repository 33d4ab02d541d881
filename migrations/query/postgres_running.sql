-- Other sessions of a migration that still run a statement, for instance those of a process that was killed.
SELECT count(*) FROM pg_stat_activity
WHERE application_name = 'topk migrate steps' AND state != 'idle' AND pid != pg_backend_pid()
  AND datname = current_database()
