-- When were the earliest views counted of those that are kept as they landed?
-- Parameters: none. Rows: one, of the second and how many rows there are.
SELECT min(second) AS first, count() AS kept
FROM topk.landed
