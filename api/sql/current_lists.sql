-- Every served list. The body comes only for versions that the API does not hold yet: $1 is the list of those it holds.
-- One statement, so pointers and bodies are of one moment.
SELECT c.item_type, c.window_name, c.slice, c.version, l.published_at, l.body
FROM current_lists AS c
LEFT JOIN lists AS l ON l.version = c.version AND NOT (c.version = ANY ($1::bigint[]))
ORDER BY c.item_type, c.window_name, c.slice
