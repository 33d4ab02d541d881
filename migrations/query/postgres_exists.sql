-- Whether a table or view exists: what a step that was cut off has left.
SELECT count(*) FROM pg_class WHERE oid = to_regclass($1)
