-- Combine the summaries of one minute into one, for every item type that has more than one.
-- Bounds stay certain: an item's count is its upper bound over all of them, its error the distance to its lower bound,
-- and floor covers whatever is left out: the next upper bound, or the sum of all floors.
-- Run by the worker that holds the lock, so that no two rows stand for the same summary.
-- Parameters: slice; minute (DateTime); keep: items of the new summary.
INSERT INTO topk.topk_minute (item_type, slice, bucket, block, absorbed, items, floor, applied)
WITH
    taken AS (SELECT arrayJoin(absorbed) FROM topk.topk_minute WHERE slice = {slice:String} AND bucket = {minute:DateTime('UTC')}),
    summaries AS
    (
        SELECT item_type, block, items, floor, applied
        FROM topk.topk_10s
        WHERE slice = {slice:String} AND bucket >= {minute:DateTime('UTC')}
          AND bucket < {minute:DateTime('UTC')} + INTERVAL 1 MINUTE AND block NOT IN (SELECT * FROM taken)
        UNION ALL
        SELECT item_type, block, items, floor, applied
        FROM topk.topk_minute
        WHERE slice = {slice:String} AND bucket = {minute:DateTime('UTC')} AND block NOT IN (SELECT * FROM taken)
    ),
    bounds AS
    (
        SELECT item_type, groupArray(block) AS blocks, sum(floor) AS floors, sum(s.applied) AS views
        FROM summaries AS s
        GROUP BY item_type
        HAVING count() > 1
    )
SELECT item_type, {slice:String}, {minute:DateTime('UTC')}, rand64(), blocks, arraySlice(ranked, 1, {keep:UInt32}),
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
