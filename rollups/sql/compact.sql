-- Combine named summaries into one of each item type.
-- Bounds stay certain: an item's count is its upper bound over all of them, its error the distance to its lower bound,
-- and floor covers whatever is left out: the next upper bound, or the sum of all floors.
-- They are named, and no row ever changes: whatever else is written at the same time is neither read nor absorbed.
-- Parameters: target: table; slice; bucket: start of the combined time, until: its end (DateTime); blocks: Array(UInt64),
-- names of the summaries; keep: items of a new one.
INSERT INTO topk.{target:Identifier} (item_type, slice, bucket, block, absorbed, items, floor, applied)
WITH
    summaries AS
    (
        SELECT item_type, block, items, floor, applied
        FROM topk.topk_10s
        WHERE slice = {slice:String} AND bucket >= {bucket:DateTime('UTC')} AND bucket < {until:DateTime('UTC')}
          AND block IN {blocks:Array(UInt64)}
        UNION ALL
        SELECT item_type, block, items, floor, applied
        FROM topk.topk_minute
        WHERE slice = {slice:String} AND bucket >= {bucket:DateTime('UTC')} AND bucket < {until:DateTime('UTC')}
          AND block IN {blocks:Array(UInt64)}
        UNION ALL
        SELECT item_type, block, items, floor, applied
        FROM topk.topk_hour
        WHERE slice = {slice:String} AND bucket >= {bucket:DateTime('UTC')} AND bucket < {until:DateTime('UTC')}
          AND block IN {blocks:Array(UInt64)}
    ),
    bounds AS
    (
        SELECT item_type, groupArray(block) AS blocks, sum(floor) AS floors, sum(s.applied) AS views
        FROM summaries AS s
        GROUP BY item_type
    )
SELECT item_type, {slice:String}, {bucket:DateTime('UTC')}, rand64(), blocks, arraySlice(ranked, 1, {keep:UInt32}),
       greatest(floors, tupleElement(ranked[{keep:UInt32} + 1], 'count')), views
FROM
(
    SELECT item_type, any(b.blocks) AS blocks, any(b.floors) AS floors, any(b.views) AS views,
           arrayPartialSort(x -> (-toInt64(tupleElement(x, 2)), tupleElement(x, 1)), {keep:UInt32} + 1,
               groupArray(CAST((item_id, over + b.floors, over + b.floors - lower),
                   'Tuple(item String, count UInt64, error UInt64)'))) AS ranked
    FROM
    (
        SELECT item_type, tupleElement(x, 1) AS item_id, sum(toUInt64(tupleElement(x, 2) - floor)) AS over,
               sum(toUInt64(tupleElement(x, 2) - tupleElement(x, 3))) AS lower
        FROM summaries
        ARRAY JOIN items AS x
        GROUP BY item_type, item_id
    ) AS added
    INNER JOIN bounds AS b USING (item_type)
    GROUP BY item_type
)
