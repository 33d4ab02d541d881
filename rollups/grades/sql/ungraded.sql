-- Which of these ends of a window have no grade against these exact counts? PostgreSQL.
-- Parameters: $1 window; $2 ends, $3 their exact versions, in the same order. Rows: place in the order, from 1.
SELECT due.place
FROM unnest($2::timestamptz[], $3::bigint[]) WITH ORDINALITY AS due (until_time, exact_version, place)
WHERE NOT EXISTS (
    SELECT FROM grades g
    WHERE g.window_name = $1 AND g.until_time = due.until_time AND g.exact_version = due.exact_version
)
ORDER BY due.place
