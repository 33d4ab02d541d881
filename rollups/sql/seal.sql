-- Say of buckets that every row of their sketches has been filled, from a source that held so many views before the first.
-- Parameters: target: table of sketches; slice; buckets: Array(DateTime) and views: Array(UInt64), of equal length.
INSERT INTO topk.{target:Identifier} (item_type, slice, bucket, width, row, cell, n)
SELECT '', {slice:String}, tupleElement(seal, 1), 0, 255, 0, tupleElement(seal, 2)
FROM (SELECT arrayJoin(arrayZip({buckets:Array(DateTime('UTC'))}, {views:Array(UInt64)})) AS seal)
