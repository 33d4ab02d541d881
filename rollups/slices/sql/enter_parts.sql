-- Enter that all slices of some dimensions in some partitions are there: a row of each without a slice and an item type.
-- Parameters: parts, buckets, versions: their names; dimensions: Array(UInt8).
INSERT INTO topk.slice_heads (slice, dimensions, part, bucket, version, item_type)
SELECT '', arrayJoin({dimensions:Array(UInt8)}), name.1, name.2, name.3, ''
FROM (SELECT arrayJoin(arrayZip({parts:Array(String)}, {buckets:Array(DateTime('UTC'))}, {versions:Array(UInt64)})) AS name)
