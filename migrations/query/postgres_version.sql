-- The state of the history, as golang-migrate keeps it.
SELECT version, dirty FROM schema_migrations LIMIT 1
