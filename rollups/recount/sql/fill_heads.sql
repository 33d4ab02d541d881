-- Remember the most viewed items of some item types in some partitions.
-- Parameters: types; keep: how many items of each; the partitions as a cover: total (0 = none), days, less (none), hours and their
-- versions.
INSERT INTO topk.exact_heads (part, bucket, version, item_type, views, items, counts, floor)
SELECT part, bucket, version, item_type, sum(n),
       arrayMap(i -> i.2, arraySlice(groupArraySorted({keep:UInt32} + 1)((-toInt64(n), item_id)) AS most, 1, {keep:UInt32})),
       arrayMap(i -> toUInt64(-i.1), arraySlice(most, 1, {keep:UInt32})),
       if(length(most) > {keep:UInt32}, toUInt64(-most[-1].1), 0)
FROM
(
    SELECT part, bucket, version, item_type, item_id, toUInt64(sum(views)) AS n
    FROM topk.exact_cover(total = {total:UInt64},
        days = {days:Array(DateTime('UTC'))}, day_versions = {day_versions:Array(UInt64)},
        less = {less:Array(DateTime('UTC'))}, less_versions = {less_versions:Array(UInt64)},
        hours = {hours:Array(DateTime('UTC'))}, hour_versions = {hour_versions:Array(UInt64)})
    WHERE item_type IN {types:Array(String)}
    GROUP BY part, bucket, version, item_type, item_id
    HAVING n > 0
)
GROUP BY part, bucket, version, item_type
