-- Store one revision of a chart, and remove the provisional ones before it; PostgreSQL.
-- Parameters: $1 zone, $2 day, $3 item_type, $4 revision, $5 provisional, $6 body.
WITH replaced AS (
    DELETE FROM charts WHERE zone = $1 AND day = $2::text::date AND item_type = $3 AND revision < $4 AND provisional
)
INSERT INTO charts (zone, day, item_type, revision, provisional, body)
VALUES ($1, $2::text::date, $3, $4, $5, $6)
