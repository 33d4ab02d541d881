-- Remove old versions of a window's lists, a small batch at a time, never one that is pointed to; PostgreSQL.
-- The newest version of each end that is graded stays longer: it is compared with the exact counts of its time, again when those change.
-- Only lists of all views are graded.
-- Parameters: $1 window, $2 published before, $3 how many; $4 ends are multiples of so many seconds (0 = the window is not graded),
-- $5 those from this as_of on stay; $6 lists of slices published before go.
DELETE FROM lists
WHERE version IN (
    SELECT l.version
    FROM lists l
    WHERE l.window_name = $1 AND l.published_at < CASE l.slice WHEN 'global' THEN $2::timestamptz ELSE $6::timestamptz END
      AND NOT EXISTS (SELECT FROM current_lists c WHERE c.version = l.version)
      AND NOT (
          l.slice = 'global' AND $4::bigint > 0 AND extract(epoch FROM l.as_of)::bigint % greatest($4::bigint, 1) = 0 AND l.as_of >= $5
          AND NOT EXISTS (
              SELECT FROM lists n
              WHERE n.item_type = l.item_type AND n.window_name = l.window_name AND n.slice = l.slice
                AND n.version > l.version AND n.as_of = l.as_of
          )
      )
    ORDER BY l.version
    LIMIT $3
)
