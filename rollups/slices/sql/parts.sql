-- Of which partitions are the most viewed items of slices there, and what does a slice without a row have at most?
-- Parameters: parts, buckets, versions: their names; dimensions: Array(UInt8), all of which must be there.
-- Rows: part, bucket, version, item_type (empty: it is there), floor.
SELECT part, bucket, version, item_type, max(h.floor)
FROM topk.slice_heads AS h
WHERE slice = '' AND (part, bucket, version) IN arrayZip({parts:Array(String)}, {buckets:Array(DateTime('UTC'))}, {versions:Array(UInt64)})
GROUP BY part, bucket, version, item_type
HAVING item_type != '' OR hasAll(groupArray(h.dimensions), {dimensions:Array(UInt8)})
