-- Which lists has somebody asked for lately, the newest first? The others are removed; PostgreSQL.
-- Parameters: $1 how long ago at most, $2 how many at most. Rows: item_type, window, slice.
WITH forgotten AS (
    DELETE FROM asked_slices WHERE asked_at < now() - $1::interval
)
SELECT item_type, window_name, slice
FROM asked_slices
WHERE asked_at >= now() - $1::interval
ORDER BY asked_at DESC, item_type, window_name, slice
LIMIT $2
