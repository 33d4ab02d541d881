-- Somebody asks for these lists again and again although none is published: enter them, or say that they are still asked for.
-- Parameters: $1 item types, $2 windows, $3 slices, of equal length and distinct.
INSERT INTO asked_slices (item_type, window_name, slice, asked_at)
SELECT item_type, window_name, slice, now()
FROM unnest($1::text[], $2::text[], $3::text[]) AS asked (item_type, window_name, slice)
ORDER BY item_type, window_name, slice
ON CONFLICT (item_type, window_name, slice) DO UPDATE SET asked_at = excluded.asked_at
