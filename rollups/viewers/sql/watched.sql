-- Which items are watched, and since when do states hold all their viewers?
-- Parameters: version. Rows: item_type, item_id, minutes_since, hours_since.
SELECT item_type, item_id, min(minutes_since) AS minutes, min(hours_since) AS hours
FROM topk.watched_items
WHERE version = {version:UInt64}
GROUP BY item_type, item_id
