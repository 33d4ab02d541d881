-- The newest revision of a chart ($1 zone, $2 day, $3 item type): asked when a request names one that is not in memory.
SELECT body, made_at
FROM charts
WHERE zone = $1 AND day = $2::text::date AND item_type = $3
ORDER BY revision DESC
LIMIT 1
