-- Every served list, of no more item types than $2: those published last. The body comes only for versions that the API does not
-- hold yet: $1 is the list of those it holds. One statement, so pointers and bodies are of one moment.
SELECT c.item_type, c.window_name, c.slice, c.version, l.published_at, l.body
FROM current_lists AS c
JOIN (
    SELECT item_type FROM current_lists GROUP BY item_type ORDER BY max(version) DESC LIMIT $2
) AS newest USING (item_type)
LEFT JOIN lists AS l ON l.version = c.version AND NOT (c.version = ANY ($1::bigint[]))
ORDER BY c.item_type, c.window_name, c.slice
