-- Write the most viewed items of each slice of some dimensions in some partitions of exact counts.
-- Parameters: types: Array(String); dimensions, as in topk_slice_name; keep: items of a slice; slices: how many of an item type and partition, and one more, so that
-- what is left out is bounded; the partitions as a cover: total (0 = none), days, less (none), hours and their versions.
INSERT INTO topk.slice_heads (slice, dimensions, part, bucket, version, item_type, views, items, counts, floor)
SELECT topk_slice_name({dimensions:UInt8}, country, category, language), {dimensions:UInt8}, part, bucket, version, item_type, slice_views,
       arrayMap(x -> x.2, kept), arrayMap(x -> toUInt64(-x.1), kept), least_count
FROM
(
    SELECT part, bucket, version, item_type, country, category, language, sum(added) AS slice_views,
           groupArraySorted({keep:UInt32} + 1)((-added, item_id)) AS most,
           if(length(most) > {keep:UInt32}, toUInt64(-most[-1].1), 0) AS least_count, arrayFilter(x -> -x.1 > least_count, most) AS kept
    FROM
    (
        SELECT part, bucket, version, item_type, item_id, country, category, language, sum(n) AS added
        FROM
        (
            SELECT part, bucket, version, item_type, item_id, views AS n, if(bitTest({dimensions:UInt8}, 0), c.country, '') AS country,
                   if(bitTest({dimensions:UInt8}, 1), c.category, '') AS category, if(bitTest({dimensions:UInt8}, 2), c.language, '') AS language
            FROM topk.exact_cover(total = {total:UInt64},
                days = {days:Array(DateTime('UTC'))}, day_versions = {day_versions:Array(UInt64)},
                less = {less:Array(DateTime('UTC'))}, less_versions = {less_versions:Array(UInt64)},
                hours = {hours:Array(DateTime('UTC'))}, hour_versions = {hour_versions:Array(UInt64)}) AS c
            WHERE item_type IN {types:Array(String)}
        )
        GROUP BY part, bucket, version, item_type, item_id, country, category, language
        HAVING added > 0
    )
    GROUP BY part, bucket, version, item_type, country, category, language
)
ORDER BY part, bucket, version, item_type, slice_views DESC, country, category, language
LIMIT {slices:UInt32} + 1 BY part, bucket, version, item_type
