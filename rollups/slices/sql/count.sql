-- How often was each of these items viewed in unions of slices, in these whole minutes, replays included?
-- Types and items are a prefix of the primary key, so most granules of other items are not read.
-- Parameters: types: Array(String); minutes: Array(DateTime); dimensions: Array(UInt8), as in topk_slices; members, names: Array(String), of equal
-- length: slices, and the union that each is a part of; unions, ids: Array(String), of equal length: the items of unions.
-- Rows: item_type, name of the union, item_id, views.
SELECT item_type, transform(slice, {members:Array(String)}, {names:Array(String)}, '') AS name, item_id, sum(added)
FROM
(
    SELECT item_type, item_id, country, category, language, sum(n) AS added
    FROM topk.counts_minute
    WHERE item_type IN {types:Array(String)} AND item_id IN {ids:Array(String)} AND minute IN {minutes:Array(DateTime('UTC'))}
    GROUP BY item_type, item_id, country, category, language
)
ARRAY JOIN topk_slices(country, category, language, {dimensions:Array(UInt8)}) AS slice
WHERE slice IN {members:Array(String)} AND (name, item_id) IN arrayZip({unions:Array(String)}, {ids:Array(String)})
GROUP BY item_type, name, item_id
