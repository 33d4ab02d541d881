-- Which slices of a language have views in these minutes and closed hours? Together they are all views.
-- Parameters: minutes, versions: Array, of equal length; buckets, part_versions: Array, of equal length; most: how many. Rows: slice.
SELECT DISTINCT slice
FROM
(
    SELECT toString(slice) AS slice
    FROM topk.slice_minutes
    WHERE dimensions = 4 AND (minute, version) IN arrayZip({minutes:Array(DateTime('UTC'))}, {versions:Array(UInt64)})
    UNION ALL
    SELECT toString(slice)
    FROM topk.slice_heads
    WHERE dimensions = 4 AND slice != '' AND part = 'hour' AND (bucket, version) IN arrayZip({buckets:Array(DateTime('UTC'))}, {part_versions:Array(UInt64)})
)
ORDER BY slice
LIMIT {most:UInt32}
