-- The state of the history, as golang-migrate keeps it.
SELECT version, dirty FROM topk.schema_migrations ORDER BY sequence DESC LIMIT 1
