-- How many views have some unions of slices in these minutes, and what may an item have that the minutes do not hold?
-- Parameters: types: Array(String); minutes, versions: Array, of equal length; members, names: Array(String), of equal length: the slices, and
-- the union that each is a part of.
-- Rows: item_type, name of the union, views, floors: the sum of them; left_out: what a slice without a row has at most in the same minutes,
-- once for each row that is there.
SELECT item_type, transform(toString(s.slice), {members:Array(String)}, {names:Array(String)}, '') AS name, sum(s.views) AS views,
       sum(s.floor) AS floors, sum(f.left_out) AS left_out
FROM
(
    SELECT item_type, slice, minute, m.views AS views, floor
    FROM topk.slice_minutes AS m
    WHERE item_type IN {types:Array(String)} AND slice IN {members:Array(String)}
      AND (minute, version) IN arrayZip({minutes:Array(DateTime('UTC'))}, {versions:Array(UInt64)})
    LIMIT 1 BY item_type, slice, minute
) AS s
LEFT ANY JOIN
(
    SELECT item_type, minute, m.left_out AS left_out
    FROM topk.filled_minutes AS m
    WHERE (minute, version) IN arrayZip({minutes:Array(DateTime('UTC'))}, {versions:Array(UInt64)})
) AS f USING (item_type, minute)
GROUP BY item_type, name
