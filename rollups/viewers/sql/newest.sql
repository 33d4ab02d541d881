-- Which is the newest version of the items that are watched?
-- Parameters: none. Rows: one, 0 when there is none.
SELECT max(version) FROM topk.watched_items
