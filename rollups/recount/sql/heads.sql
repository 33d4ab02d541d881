-- What is remembered of partitions?
-- Parameters: parts, buckets, versions: their names; keep: how many items of the item types given, of all others none.
-- Rows: part, bucket, version, item_type, views of all its items, items, most viewed first, their views, what no other item exceeds.
-- A row without an item type says that the others of its partition are all there.
SELECT part, bucket, version, item_type, views, if(asked, arraySlice(items, 1, {keep:UInt32}), []) AS first,
       if(asked, arraySlice(counts, 1, {keep:UInt32}), []),
       if(length(first) < length(items), counts[length(first) + 1], floor)
FROM
(
    SELECT *, item_type IN {types:Array(String)} AS asked
    FROM topk.exact_heads
    WHERE (part, bucket, version) IN arrayZip({parts:Array(String)}, {buckets:Array(DateTime('UTC'))}, {versions:Array(UInt64)})
    LIMIT 1 BY part, bucket, version, item_type
)
