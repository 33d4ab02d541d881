-- Remove old versions of a window's lists, a small batch at a time, never one that is pointed to; PostgreSQL.
-- Parameters: $1 window, $2 published before, $3 how many.
DELETE FROM lists
WHERE version IN (
    SELECT l.version
    FROM lists l
    WHERE l.window_name = $1 AND l.published_at < $2
      AND NOT EXISTS (SELECT FROM current_lists c WHERE c.version = l.version)
    ORDER BY l.version
    LIMIT $3
)
