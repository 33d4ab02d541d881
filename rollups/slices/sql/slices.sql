-- Which slices have views in these minutes, those of a single dimension first, of them the busiest?
-- Parameters: minutes, versions: Array, of equal length; types: Array(String); most: how many of a type. Rows: item_type, slice, views, is_pair.
SELECT item_type, slice, sum(slice_views) AS views, any(bitCount(of)) > 1 AS is_pair
FROM
(
    SELECT item_type, slice, minute, any(s.views) AS slice_views, any(dimensions) AS of
    FROM topk.slice_minutes AS s
    WHERE item_type IN {types:Array(String)} AND (minute, version) IN arrayZip({minutes:Array(DateTime('UTC'))}, {versions:Array(UInt64)})
    GROUP BY item_type, slice, minute
)
GROUP BY item_type, slice
ORDER BY item_type, is_pair, views DESC, slice
LIMIT {most:UInt32} BY item_type
