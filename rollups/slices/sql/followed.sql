-- Which is the newest version of the items that are followed?
-- Parameters: none. Rows: one, 0 when there is none.
SELECT max(version) FROM topk.slice_followed
