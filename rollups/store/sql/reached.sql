-- Up to which as_of were the lists of a window made, whoever made them? PostgreSQL.
-- Parameters: $1 window. Rows: one, null when there is none.
SELECT max(l.as_of)
FROM current_lists c
JOIN lists l USING (version)
WHERE c.window_name = $1
