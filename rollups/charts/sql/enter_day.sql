-- Note what the charts of a day have been counted from; PostgreSQL, first in the transaction that stores them. Nothing happens when
-- somebody else has counted it since round $3 was read (0 = it had not been counted).
-- Parameters: $1 zone, $2 day, $3 round, $4 provisional, $5 as_of, $6 cap, $7 item types with a chart, $8 hours, $9 their versions.
INSERT INTO chart_days (zone, day, round, provisional, as_of, cap, item_types, hours, versions)
VALUES ($1, $2::text::date, $3::bigint + 1, $4, $5, $6, $7, $8, $9)
ON CONFLICT (zone, day) DO UPDATE
SET round = excluded.round, provisional = excluded.provisional, as_of = excluded.as_of, cap = excluded.cap,
    item_types = excluded.item_types, hours = excluded.hours, versions = excluded.versions, counted_at = excluded.counted_at
WHERE chart_days.round = $3
