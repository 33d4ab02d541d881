-- What is the newest measured grade of each item type of a window, within a day of the newest of all? PostgreSQL.
-- Parameters: $1 window, $2 how far behind (seconds). Rows: as in table grades.
SELECT DISTINCT ON (item_type)
       grade, item_type, window_name, from_time, until_time, graded_at, exact_version, list_version, reason,
       method, certified, items, exact_items, recall_100, recall_1000, shared_100, overcount, max_overcount, displacement
FROM grades
WHERE window_name = $1 AND reason IS NULL
  AND until_time >= (SELECT max(until_time) FROM grades WHERE window_name = $1) - make_interval(secs => $2)
ORDER BY item_type, until_time DESC, grade DESC
