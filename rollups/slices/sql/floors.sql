-- How many views have some unions of slices in these minutes and closed partitions, and what may an item have that those do not hold?
-- Parameters: as in merge.sql, but most.
-- Rows: item_type, name of the union, views, floors: the sum of them, taken: the sum of those of partitions that are taken away; left_out: what
-- a slice without a row has at most in the same minutes and partitions, once for each row that is there, left_taken: the same of those taken away.
SELECT item_type, transform(toString(s.slice), {members:Array(String)}, {names:Array(String)}, '') AS name,
       sum(if(is_taken, -toInt64(s.views), toInt64(s.views))) AS views, sumIf(s.floor, NOT is_taken) AS floors, sumIf(s.floor, is_taken) AS taken,
       sumIf(f.left_out, NOT is_taken) AS left_out, sumIf(f.left_out, is_taken) AS left_taken
FROM
(
    SELECT item_type, slice, 'minute' AS part, minute AS bucket, version, m.views AS views, floor, false AS is_taken
    FROM topk.slice_minutes AS m
    WHERE item_type IN {types:Array(String)} AND slice IN {members:Array(String)}
      AND (minute, version) IN arrayZip({minutes:Array(DateTime('UTC'))}, {versions:Array(UInt64)})
    LIMIT 1 BY item_type, slice, minute
    UNION ALL
    SELECT item_type, slice, part, bucket, version, h.views AS views, floor,
           (part, bucket, version) IN arrayZip({taken:Array(String)}, {buckets:Array(DateTime('UTC'))}, {part_versions:Array(UInt64)})
    FROM topk.slice_heads AS h
    WHERE item_type IN {types:Array(String)} AND slice IN {members:Array(String)}
      AND (part, bucket, version) IN arrayZip({parts:Array(String)}, {buckets:Array(DateTime('UTC'))}, {part_versions:Array(UInt64)})
    LIMIT 1 BY item_type, slice, part, bucket, version
) AS s
LEFT ANY JOIN
(
    SELECT item_type, 'minute' AS part, minute AS bucket, version, m.left_out AS left_out
    FROM topk.filled_minutes AS m
    WHERE (minute, version) IN arrayZip({minutes:Array(DateTime('UTC'))}, {versions:Array(UInt64)})
    UNION ALL
    SELECT item_type, part, bucket, version, h.floor
    FROM topk.slice_heads AS h
    WHERE slice = '' AND item_type != ''
      AND (part, bucket, version) IN arrayZip({parts:Array(String)}, {buckets:Array(DateTime('UTC'))}, {part_versions:Array(UInt64)})
) AS f USING (item_type, part, bucket, version)
GROUP BY item_type, name
