-- Which items may be among the most viewed of some unions of slices in these minutes and closed partitions?
-- What a slice holds of them is added up. An item that it leaves out has at most its floor there, and one of a slice without a row at
-- most what filled_minutes, or the row without a slice in slice_heads, says of those left out, so
--   upper = over + floors, where over adds (count - floor) of the rows that hold the item, and floors adds all floors (floors.sql). Items
-- that are followed may have less than the floor. Of a partition that is taken away count is subtracted from over, and
--   lower = under - taken floors, where under subtracts (count - floor) of it.
-- Source: Cafaro, Pulimeno, Tempesta, "A parallel Space Saving algorithm" (2016), with the floors kept apart.
-- Parameters: types: Array(String); minutes, versions: Array, of equal length; parts, buckets, part_versions: the partitions, taken: Array(String),
-- the grains of those that are taken away, otherwise empty, all of equal length; members, names: Array(String), of equal length: the slices, and
-- the union that each is a part of; most: how many of a union.
-- Rows: item_type, name of the union, item_id, over, under. Of a union, greatest over first.
SELECT item_type, name, tupleElement(x, 2) AS item_id, -tupleElement(x, 1) AS over, tupleElement(x, 3) AS under
FROM
(
    SELECT item_type, name, arrayJoin(groupArraySorted({most:UInt32})((-added, item_id, least_views))) AS x
    FROM
    (
        SELECT item_type, name, item_id, sum(if(is_taken, -toInt64(count), toInt64(count) - toInt64(least_count))) AS added,
               sum(if(is_taken, toInt64(least_count) - toInt64(count), toInt64(count))) AS least_views
        FROM
        (
            SELECT item_type, transform(toString(slice), {members:Array(String)}, {names:Array(String)}, '') AS name, items, counts,
                   m.floor AS least_count, false AS is_taken
            FROM topk.slice_minutes AS m
            WHERE item_type IN {types:Array(String)} AND slice IN {members:Array(String)}
              AND (minute, version) IN arrayZip({minutes:Array(DateTime('UTC'))}, {versions:Array(UInt64)})
            LIMIT 1 BY item_type, slice, minute
            UNION ALL
            SELECT item_type, transform(toString(slice), {members:Array(String)}, {names:Array(String)}, '') AS name, items, counts,
                   h.floor AS least_count, (part, bucket, version) IN arrayZip({taken:Array(String)}, {buckets:Array(DateTime('UTC'))}, {part_versions:Array(UInt64)})
            FROM topk.slice_heads AS h
            WHERE item_type IN {types:Array(String)} AND slice IN {members:Array(String)}
              AND (part, bucket, version) IN arrayZip({parts:Array(String)}, {buckets:Array(DateTime('UTC'))}, {part_versions:Array(UInt64)})
            LIMIT 1 BY item_type, slice, part, bucket, version
        )
        ARRAY JOIN items AS item_id, counts AS count
        GROUP BY item_type, name, item_id
    )
    GROUP BY item_type, name
)
