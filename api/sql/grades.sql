-- The newest grades of published lists, no more than $2, and only those newer than $1: grades are added, never changed.
SELECT grade, item_type, window_name, from_time, until_time, graded_at, exact_version, list_version, reason,
       method, certified, items, exact_items, recall_100, recall_1000, shared_100, overcount, max_overcount, displacement
FROM grades
WHERE grade > $1
ORDER BY grade DESC
LIMIT $2
