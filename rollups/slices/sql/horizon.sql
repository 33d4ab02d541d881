-- Up to when have minutes been filled? After a start some before may still be missing.
-- Parameters: none. Rows: one, 1970 where nothing has been.
SELECT max(minute) FROM topk.filled_minutes WHERE item_type = ''
