-- Which items trend in some unions of slices, and why?
-- Views of minutes and closed hours decay from the start of theirs to one moment, until, before they are added: so no order of adding, and no
-- number of shards, changes the sums. An item has at least what the rows hold of it (fast, views). At most it has, beside that, the floors of the rows
-- that leave it out, and of each slice without a row what was left out of that minute or hour: both together are gaps here, of a moment and all
-- slices of a union (slow, surplus). It may have been there as early as the first gap (first_seen). So a rise is never made of what is not known.
-- Parameters: types: Array(String); minutes, versions: Array, of equal length; buckets, part_versions: Array, of equal length: the closed hours;
-- members, names: Array(String), of equal length: the slices, and the union that each is a part of; kept: Array(String): unions none of whose
-- slices can have been left out; until (DateTime); floor: Float64, as in topk_trend_velocity; most: how many of a union.
-- Rows: item_type, name of the union, item_id, score, velocity, novelty, fast, slow, views: of the last hour, surplus: what it may have more of
-- them, first_seen: start of the first minute or hour that holds it or may have left it out; and of the union: total: views of all items in the last
-- hour, whole: 1 where there is no gap, all_there: 1 where no slice was left out. Of a union, greatest score first. One without an item has one row, whose
-- item_id is empty.
SELECT item_type, name, item_id, topk_trend_score(fast, slow, {floor:Float64}, views, age) AS score,
       topk_trend_velocity(fast, slow, {floor:Float64}) AS velocity, topk_trend_novelty(age) AS novelty, fast, slow, views, surplus, first_seen, total,
       whole, all_there
FROM
(
    SELECT item_type, name, item_id, i.fast AS fast, i.slow_over + u.slow_floor AS slow, i.views AS views,
           toUInt64(i.views_over + toInt64(u.views_floor) - toInt64(i.views)) AS surplus,
           if(u.whole, i.first_seen, least(i.first_seen, u.first_gap)) AS first_seen, u.total AS total, u.whole AS whole, u.all_there AS all_there,
           dateDiff('second', first_seen, {until:DateTime('UTC')}) AS age
    FROM
    (
        SELECT item_type, name, item_id, sum(count * fast_weight) AS fast, sum((toInt64(count) - toInt64(least_count)) * slow_weight) AS slow_over,
               sumIf(count, is_last) AS views, sumIf(toInt64(count) - toInt64(least_count), is_last) AS views_over, minIf(at, count > 0) AS first_seen
        FROM
        (
            SELECT item_type, transform(toString(slice), {members:Array(String)}, {names:Array(String)}, '') AS name, at, items, counts, least_count,
                   exp2(-dateDiff('second', at, {until:DateTime('UTC')}) / 3600) AS fast_weight,
                   exp2(-dateDiff('second', at, {until:DateTime('UTC')}) / 86400) AS slow_weight, is_minute AND at >= {until:DateTime('UTC')} - 3600 AS is_last
            FROM
            (
                SELECT item_type, slice, minute AS at, true AS is_minute, items, counts, m.floor AS least_count
                FROM topk.slice_minutes AS m
                WHERE item_type IN {types:Array(String)} AND slice IN {members:Array(String)}
                  AND (minute, version) IN arrayZip({minutes:Array(DateTime('UTC'))}, {versions:Array(UInt64)})
                LIMIT 1 BY item_type, slice, minute
                UNION ALL
                SELECT item_type, slice, bucket, false, items, counts, h.floor
                FROM topk.slice_heads AS h
                WHERE item_type IN {types:Array(String)} AND slice IN {members:Array(String)} AND part = 'hour'
                  AND (bucket, version) IN arrayZip({buckets:Array(DateTime('UTC'))}, {part_versions:Array(UInt64)})
                LIMIT 1 BY item_type, slice, bucket, version
            )
        )
        ARRAY JOIN items AS item_id, counts AS count
        GROUP BY item_type, name, item_id
        HAVING views > 0
    ) AS i
    RIGHT JOIN
    (
        SELECT item_type, name, sum(gap * exp2(-dateDiff('second', at, {until:DateTime('UTC')}) / 86400)) AS slow_floor, sumIf(gap, is_last) AS views_floor,
               sumIf(all_views, is_last) AS total, max(gap) = 0 AS whole, max(absent) = 0 AS all_there, minIf(at, gap > 0) AS first_gap
        FROM
        (
            SELECT item_type, name, at, is_minute AND at >= {until:DateTime('UTC')} - 3600 AS is_last, sum(r.views) AS all_views,
                   max(left_out) * toUInt64(countEqual({names:Array(String)}, name) - sum(slices)) AS absent, sum(least_count) + absent AS gap
            FROM
            (
                SELECT item_type, transform(toString(slice), {members:Array(String)}, {names:Array(String)}, '') AS name, minute AS at, true AS is_minute,
                       m.floor AS least_count, m.views AS views, 1 AS slices, 0 AS left_out
                FROM topk.slice_minutes AS m
                WHERE item_type IN {types:Array(String)} AND slice IN {members:Array(String)}
                  AND (minute, version) IN arrayZip({minutes:Array(DateTime('UTC'))}, {versions:Array(UInt64)})
                LIMIT 1 BY item_type, slice, minute
                UNION ALL
                SELECT item_type, transform(toString(slice), {members:Array(String)}, {names:Array(String)}, '') AS name, bucket, false, h.floor, h.views, 1, 0
                FROM topk.slice_heads AS h
                WHERE item_type IN {types:Array(String)} AND slice IN {members:Array(String)} AND part = 'hour'
                  AND (bucket, version) IN arrayZip({buckets:Array(DateTime('UTC'))}, {part_versions:Array(UInt64)})
                LIMIT 1 BY item_type, slice, bucket, version
                UNION ALL
                SELECT item_type, arrayJoin(arrayExcept(arrayDistinct({names:Array(String)}), {kept:Array(String)})) AS name, at, is_minute, 0, 0, 0, left_out
                FROM
                (
                    SELECT item_type, minute AS at, true AS is_minute, f.left_out AS left_out
                    FROM topk.filled_minutes AS f
                    WHERE item_type IN {types:Array(String)} AND left_out > 0
                      AND (minute, version) IN arrayZip({minutes:Array(DateTime('UTC'))}, {versions:Array(UInt64)})
                    UNION ALL
                    SELECT item_type, bucket, false, h.floor
                    FROM topk.slice_heads AS h
                    WHERE slice = '' AND item_type IN {types:Array(String)} AND part = 'hour' AND h.floor > 0
                      AND (bucket, version) IN arrayZip({buckets:Array(DateTime('UTC'))}, {part_versions:Array(UInt64)})
                )
            ) AS r
            GROUP BY item_type, name, at, is_minute
        )
        GROUP BY item_type, name
    ) AS u USING (item_type, name)
)
ORDER BY item_type, name, score DESC, item_id
LIMIT {most:UInt32} BY item_type, name
