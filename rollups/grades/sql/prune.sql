-- Remove a batch of old grades; PostgreSQL.
-- Parameters: $1 window, $2 of lists that end before, $3 how many.
DELETE FROM grades
WHERE grade IN (SELECT grade FROM grades WHERE window_name = $1 AND until_time < $2 ORDER BY until_time LIMIT $3)
