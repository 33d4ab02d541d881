-- Which days have charts, and what were they counted from? PostgreSQL.
-- Parameters: $1 first day. Rows: zone, day, round, provisional, as_of, cap, item_types, hours, versions, counted_at.
SELECT zone, day::text, round, provisional, as_of, cap, item_types, hours, versions, counted_at
FROM chart_days
WHERE day >= $1::text::date
