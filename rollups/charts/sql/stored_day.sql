-- The same of one day; PostgreSQL.
-- Parameters: $1 zone, $2 day. Rows: as in stored_days.sql, at most one.
SELECT zone, day::text, round, provisional, as_of, cap, item_types, hours, versions, counted_at
FROM chart_days
WHERE zone = $1 AND day = $2::text::date
