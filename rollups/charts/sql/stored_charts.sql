-- The newest charts of a day, of all item types; PostgreSQL.
-- Parameters: $1 zone, $2 day. Rows: body.
SELECT DISTINCT ON (item_type) body
FROM charts
WHERE zone = $1 AND day = $2::text::date
ORDER BY item_type, revision DESC
