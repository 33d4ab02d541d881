-- Up to when have lists come? The greatest as_of of the served ones; PostgreSQL. Rows: one, null when there are no lists.
SELECT max(l.as_of) FROM current_lists JOIN lists AS l USING (version)
