-- How much do the states of viewers take?
-- Parameters: none. Rows: one: bytes on disk, rows.
SELECT sum(bytes_on_disk), sum(rows)
FROM system.parts
WHERE database = 'topk' AND table IN ('viewers_minute', 'viewers_hour') AND active
