-- Enter that all heads of some partitions are there: a row of each without an item type.
-- Parameters: parts, buckets, versions: their names.
INSERT INTO topk.exact_heads (part, bucket, version, item_type)
SELECT name.1, name.2, name.3, ''
FROM (SELECT arrayJoin(arrayZip({parts:Array(String)}, {buckets:Array(DateTime('UTC'))}, {versions:Array(UInt64)})) AS name)
