-- Up to when has every minute been filled?
-- Parameters: none. Rows: one, 1970 where nothing has been.
SELECT max(minute) FROM topk.filled_minutes WHERE item_type = ''
