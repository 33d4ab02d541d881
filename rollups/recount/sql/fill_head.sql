-- Remember the most viewed items of one item type in a partition.
-- Parameters: part, bucket, version: its name; type; views of all its items; keep: how many items; the partition as a cover: total
-- (0 = none), days, less (none), hours and their versions.
INSERT INTO topk.exact_heads (part, bucket, version, item_type, views, items, counts, floor)
SELECT {part:String}, {bucket:DateTime('UTC')}, {version:UInt64}, {type:String}, {views:UInt64},
       arraySlice(groupArray(item_id) AS most, 1, {keep:UInt32}), arraySlice(groupArray(n) AS counted, 1, {keep:UInt32}),
       if(length(most) > {keep:UInt32}, counted[-1], 0)
FROM
(
    SELECT item_id, toUInt64(sum(views)) AS n
    FROM topk.exact_cover(total = {total:UInt64},
        days = {days:Array(DateTime('UTC'))}, day_versions = {day_versions:Array(UInt64)},
        less = {less:Array(DateTime('UTC'))}, less_versions = {less_versions:Array(UInt64)},
        hours = {hours:Array(DateTime('UTC'))}, hour_versions = {hour_versions:Array(UInt64)})
    WHERE item_type = {type:String}
    GROUP BY item_id
    HAVING n > 0
    ORDER BY n DESC, item_id
    LIMIT {keep:UInt32} + 1
)
