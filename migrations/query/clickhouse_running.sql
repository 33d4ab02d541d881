-- Statements of a migration that still run, for instance those of a process that was killed.
SELECT count() FROM system.processes WHERE Settings['log_comment'] = 'topk migrate' AND query_id != queryID()
