-- Which lists of a window count exactly up to one as_of? The newest version of each item type; PostgreSQL.
-- Parameters: $1 window, $2 slice, $3 as_of. Rows: item_type, version, body.
SELECT DISTINCT ON (item_type) item_type, version, body
FROM lists
WHERE window_name = $1 AND slice = $2 AND as_of = $3
ORDER BY item_type, version DESC
