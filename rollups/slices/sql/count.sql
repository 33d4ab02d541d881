-- How often was each of these items viewed in unions of slices, in these whole minutes, replays included, and in these closed partitions?
-- Types and items are a prefix of the primary keys, so most granules of other items are not read.
-- Parameters: types: Array(String); minutes: Array(DateTime); dimensions: Array(UInt8), as in topk_slices; members, names: Array(String), of equal
-- length: slices, and the union that each is a part of; unions, ids: Array(String), of equal length: the items of unions; the partitions as a
-- cover: total (0 = none), days, less, hours and their versions.
-- Rows: item_type, name of the union, item_id, views as landed, exact views.
SELECT item_type, transform(slice, {members:Array(String)}, {names:Array(String)}, '') AS name, item_id, sum(landed), toUInt64(greatest(sum(exact), 0))
FROM
(
    SELECT item_type, item_id, country, category, language, sum(n) AS landed, 0 AS exact
    FROM topk.counts_minute
    WHERE item_type IN {types:Array(String)} AND item_id IN {ids:Array(String)} AND minute IN {minutes:Array(DateTime('UTC'))}
    GROUP BY item_type, item_id, country, category, language
    UNION ALL
    SELECT item_type, item_id, country, category, language, 0, sum(views)
    FROM topk.exact_cover(total = {total:UInt64},
        days = {days:Array(DateTime('UTC'))}, day_versions = {day_versions:Array(UInt64)},
        less = {less:Array(DateTime('UTC'))}, less_versions = {less_versions:Array(UInt64)},
        hours = {hours:Array(DateTime('UTC'))}, hour_versions = {hour_versions:Array(UInt64)})
    WHERE item_type IN {types:Array(String)} AND item_id IN {ids:Array(String)}
    GROUP BY item_type, item_id, country, category, language
)
ARRAY JOIN topk_slices(country, category, language, {dimensions:Array(UInt8)}) AS slice
WHERE slice IN {members:Array(String)} AND (name, item_id) IN arrayZip({unions:Array(String)}, {ids:Array(String)})
GROUP BY item_type, name, item_id
