-- Enter what a slice without a row has at most in some partitions whose slices have been written.
-- Parameters: parts, buckets, versions: their names; slices: how many are kept of an item type and partition.
INSERT INTO topk.slice_heads (slice, dimensions, part, bucket, version, item_type, floor)
SELECT '', 0, part, bucket, version, item_type, max(left_out)
FROM
(
    SELECT part, bucket, version, item_type, of, if(count() > {slices:UInt32}, min(slice_views), 0) AS left_out
    FROM
    (
        SELECT part, bucket, version, item_type, dimensions AS of, slice, any(views) AS slice_views
        FROM topk.slice_heads
        WHERE slice != '' AND (part, bucket, version) IN arrayZip({parts:Array(String)}, {buckets:Array(DateTime('UTC'))}, {versions:Array(UInt64)})
        GROUP BY part, bucket, version, item_type, of, slice
    )
    GROUP BY part, bucket, version, item_type, of
)
GROUP BY part, bucket, version, item_type
HAVING max(left_out) > 0
