-- Stop serving lists of a window that are made no more: those whose as_of is long past, and the oldest of too many; PostgreSQL.
-- The versions stay until they are pruned. Who listens is told with version 0, which no list has.
-- Parameters: $1 window, $2 slice, $3 item types that lists are made of, $4 as_of before which a list goes, $5 how many others
-- stay, $6 how many go at most. Rows: item_type.
WITH others AS (
    SELECT c.item_type, l.as_of, row_number() OVER (ORDER BY l.as_of DESC, l.version DESC) AS position
    FROM current_lists c JOIN lists l USING (version)
    WHERE c.window_name = $1 AND c.slice = $2 AND c.item_type <> ALL ($3::text[])
), forgotten AS (
    DELETE FROM current_lists
    WHERE window_name = $1 AND slice = $2 AND item_type IN (
        SELECT item_type FROM others WHERE as_of < $4 OR position > $5 ORDER BY position DESC LIMIT $6
    )
    RETURNING item_type
)
SELECT item_type, pg_notify('topk_lists', json_build_object(
    'item_type', item_type, 'window', $1::text, 'slice', $2::text, 'version', 0)::text)
FROM forgotten
