-- Somebody still asks for these lists, which are published: those that are only because of that stay. The others have no row and get none.
-- Parameters: $1 item types, $2 windows, $3 slices, of equal length.
WITH still AS (
    SELECT item_type, window_name, slice
    FROM asked_slices
    JOIN unnest($1::text[], $2::text[], $3::text[]) AS asked (item_type, window_name, slice) USING (item_type, window_name, slice)
    ORDER BY item_type, window_name, slice
    FOR UPDATE OF asked_slices
)
UPDATE asked_slices AS a SET asked_at = now()
FROM still
WHERE (a.item_type, a.window_name, a.slice) = (still.item_type, still.window_name, still.slice)
