-- One served list by name ($1 item type, $2 window, $3 slice): asked after a notification.
SELECT c.item_type, c.window_name, c.slice, c.version, l.published_at, l.body
FROM current_lists AS c
JOIN lists AS l ON l.version = c.version
WHERE c.item_type = $1 AND c.window_name = $2 AND c.slice = $3
