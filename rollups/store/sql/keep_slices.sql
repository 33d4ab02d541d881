-- Stop serving lists of slices that are made no more; PostgreSQL. The versions stay until they are pruned. Who listens is told with version
-- 0, which no list has.
-- Parameters: $1 windows, $2 a slice whose lists stay; $3 item types, $4 windows and $5 slices of the lists that stay, of equal
-- length; $6 how many go at most. Rows: item_type.
WITH forgotten AS (
    DELETE FROM current_lists
    WHERE (item_type, window_name, slice) IN (
        SELECT c.item_type, c.window_name, c.slice
        FROM current_lists c
        LEFT JOIN unnest($3::text[], $4::text[], $5::text[]) AS kept (item_type, window_name, slice) USING (item_type, window_name, slice)
        WHERE c.window_name = ANY ($1::text[]) AND c.slice <> $2 AND kept.item_type IS NULL
        ORDER BY c.version
        LIMIT $6
    )
    RETURNING item_type, window_name, slice
)
SELECT item_type, pg_notify('topk_lists', json_build_object(
    'item_type', item_type, 'window', window_name, 'slice', slice, 'version', 0)::text)
FROM forgotten
