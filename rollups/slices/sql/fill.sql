-- Write the most viewed items of each slice of some dimensions in some minutes, each landed row once, and those that are followed beside
-- them, whatever views they have.
-- Parameters: types: Array(String); dimensions, as in topk_slice_name; minutes: Array(DateTime); from, until (DateTime) around them; version; keep: items of a slice;
-- slices: how many of an item type and minute, and one more, so that what is left out is bounded; followed: version in slice_followed.
-- A slice of more than keep items has a floor of one at least, so items of one view are in no need of order.
INSERT INTO topk.slice_minutes (item_type, slice, dimensions, minute, version, views, items, counts, floor)
WITH followed AS
(
    SELECT item_type, country, category, language, item_id
    FROM topk.slice_followed
    WHERE version = {followed:UInt64} AND dimensions = {dimensions:UInt8}
)
SELECT item_type, topk_slice_name({dimensions:UInt8}, country, category, language), {dimensions:UInt8}, minute, {version:UInt64}, views,
       arrayMap(x -> x.2, kept), arrayMap(x -> x.1, kept), least_count
FROM
(
    SELECT item_type, country, category, language, minute, views,
           multiIf(item_count <= {keep:UInt32}, 0, length(several) > {keep:UInt32}, several[{keep:UInt32} + 1].1, 1) AS least_count,
           arrayConcat(arrayFilter(x -> x.1 > least_count OR x.3, several), if(item_count <= {keep:UInt32}, singles, []),
               arrayMap(id -> (toUInt64(0), id, true), arrayExcept(w.items, arrayMap(x -> x.2, arrayFilter(x -> x.3, several))))) AS kept
    FROM
    (
        SELECT item_type, country, category, language, minute, sum(added) AS views, count() AS item_count,
               arraySort(x -> (-toInt64(x.1), x.2), groupArrayIf((added, item_id, is_followed), added > 1 OR is_followed)) AS several,
               groupArrayIf({keep:UInt32})((added, item_id, is_followed), added = 1 AND NOT is_followed) AS singles
        FROM
        (
            SELECT item_type, minute, item_id, country, category, language, sum(n) AS added,
                   (item_type, country, category, language, item_id) IN followed AS is_followed
            FROM
            (
                SELECT item_type, toStartOfMinute(second) AS minute, item_id, n,
                       if(bitTest({dimensions:UInt8}, 0), s.country, '') AS country, if(bitTest({dimensions:UInt8}, 1), s.category, '') AS category,
                       if(bitTest({dimensions:UInt8}, 2), s.language, '') AS language
                FROM topk.counts_second AS s FINAL
                WHERE item_type IN {types:Array(String)} AND second >= {from:DateTime('UTC')} AND second < {until:DateTime('UTC')} AND minute IN {minutes:Array(DateTime('UTC'))}
            )
            GROUP BY item_type, minute, item_id, country, category, language
        )
        GROUP BY item_type, country, category, language, minute
    ) AS grouped
    LEFT ANY JOIN (SELECT item_type, country, category, language, groupArray(item_id) AS items FROM followed GROUP BY ALL) AS w
        USING (item_type, country, category, language)
)
ORDER BY item_type, minute, views DESC, country, category, language
LIMIT {slices:UInt32} + 1 BY item_type, minute
