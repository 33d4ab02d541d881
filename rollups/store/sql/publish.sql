-- Insert a version of one list, point to it, and tell who listens; PostgreSQL, inside the transaction of a build.
-- Nothing happens, and no row is returned, when the pointer stands at a list with a later as_of.
-- Parameters: $1 item_type, $2 window, $3 slice, $4 as_of, $5 body. Rows: version.
WITH inserted AS (
    INSERT INTO lists (item_type, window_name, slice, as_of, body)
    SELECT $1, $2, $3, $4, $5
    WHERE NOT EXISTS (
        SELECT FROM current_lists c JOIN lists l USING (version)
        WHERE c.item_type = $1 AND c.window_name = $2 AND c.slice = $3 AND l.as_of > $4
    )
    RETURNING version
), pointed AS (
    INSERT INTO current_lists (item_type, window_name, slice, version)
    SELECT $1, $2, $3, version FROM inserted
    ON CONFLICT (item_type, window_name, slice) DO UPDATE SET version = excluded.version
    RETURNING version
)
SELECT version, pg_notify('topk_lists', json_build_object(
    'item_type', $1::text, 'window', $2::text, 'slice', $3::text, 'version', version)::text)
FROM pointed
