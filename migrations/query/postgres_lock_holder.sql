-- Who holds the lock of all migrations.
SELECT a.pid, a.application_name, coalesce(host(a.client_addr), 'local socket'), a.backend_start
FROM pg_locks AS l
JOIN pg_stat_activity AS a USING (pid)
WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND (l.classid::bigint << 32) | l.objid::bigint = $1
