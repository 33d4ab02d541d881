-- Remember the most viewed items of some item types in some partitions.
-- Parameters: types; keep: how many items of each; the partitions: total (0 = none), days, hours and their versions.
INSERT INTO topk.exact_heads (part, bucket, version, item_type, views, items, counts, floor)
SELECT part, bucket, version, item_type, sum(n) AS views,
       arrayMap(i -> i.2, arraySlice(groupArraySorted({keep:UInt32} + 1)((-toInt64(n), item_id)) AS most, 1, {keep:UInt32})),
       arrayMap(i -> toUInt64(-i.1), arraySlice(most, 1, {keep:UInt32})),
       if(length(most) > {keep:UInt32}, toUInt64(-most[-1].1), 0)
FROM
(
    SELECT part, bucket, version, item_type, item_id, sum(views) AS n
    FROM
    (
        SELECT 'total' AS part, toDateTime(0, 'UTC') AS bucket, version, item_type, item_id, n AS views FROM topk.counts_total FINAL
        WHERE version = {total:UInt64} AND item_type IN {types:Array(String)}
        UNION ALL
        SELECT 'day', day, version, item_type, item_id, n FROM topk.counts_daily FINAL
        WHERE (day, version) IN arrayZip({days:Array(DateTime('UTC'))}, {day_versions:Array(UInt64)}) AND item_type IN {types:Array(String)}
        UNION ALL
        SELECT 'hour', hour, version, item_type, item_id, n FROM topk.counts_hourly FINAL
        WHERE (hour, version) IN arrayZip({hours:Array(DateTime('UTC'))}, {hour_versions:Array(UInt64)}) AND item_type IN {types:Array(String)}
    )
    GROUP BY part, bucket, version, item_type, item_id
    HAVING n > 0
)
GROUP BY part, bucket, version, item_type
