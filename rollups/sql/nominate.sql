-- Which items may be among the most viewed of [from, as_of), and how many views can any other item have?
-- Summaries of blocks are added up: an item that a summary leaves out has at most its floor there, so
--   upper = over + floors, where over adds (count - floor) of the summaries that hold the item, and floors adds all floors.
-- These are plain sums: the order of rows changes nothing. Source: Cafaro, Pulimeno, Tempesta, "A parallel Space Saving
-- algorithm" (2016), with the floors kept apart. Buckets that only overlap the window are read whole: upper grows, and
-- stays true. Whole minutes come from topk_minute, which leaves out of topk_10s what it has absorbed.
-- Parameters: slice; types: Array(String); from, as_of (DateTime); candidates: how many of a type, one more is returned.
-- Rows: item_type, item_id, over, lower (from buckets wholly inside), floors. One type's rows, greatest over first.
WITH
    toStartOfMinute({from:DateTime('UTC')} + INTERVAL 59 SECOND) AS whole_from,
    toStartOfMinute({as_of:DateTime('UTC')}) AS whole_until,
    summaries AS
    (
        SELECT item_type, items, floor,
               bucket >= {from:DateTime('UTC')} AND bucket + INTERVAL 10 SECOND <= {as_of:DateTime('UTC')} AS inside
        FROM topk.topk_10s
        WHERE slice = {slice:String} AND item_type IN {types:Array(String)}
          AND bucket > {from:DateTime('UTC')} - INTERVAL 10 SECOND AND bucket < {as_of:DateTime('UTC')}
          AND block NOT IN
          (
              SELECT arrayJoin(absorbed) FROM topk.topk_minute
              WHERE slice = {slice:String} AND bucket >= whole_from AND bucket < whole_until
          )
        UNION ALL
        SELECT item_type, items, floor, 1 AS inside
        FROM topk.topk_minute
        WHERE slice = {slice:String} AND item_type IN {types:Array(String)}
          AND bucket >= whole_from AND bucket < whole_until
          AND block NOT IN
          (
              SELECT arrayJoin(absorbed) FROM topk.topk_minute
              WHERE slice = {slice:String} AND bucket >= whole_from AND bucket < whole_until
          )
    )
SELECT item_type, item_id, over, lower, floors
FROM
(
    SELECT item_type, tupleElement(x, 1) AS item_id, sum(toUInt64(tupleElement(x, 2) - floor)) AS over,
           sumIf(toUInt64(tupleElement(x, 2) - tupleElement(x, 3)), inside) AS lower
    FROM summaries
    ARRAY JOIN items AS x
    GROUP BY item_type, item_id
    ORDER BY item_type, over DESC, item_id
    LIMIT {candidates:UInt32} + 1 BY item_type
) AS nominated
INNER JOIN (SELECT item_type, sum(floor) AS floors FROM summaries GROUP BY item_type) AS bounds USING (item_type)
ORDER BY item_type, over DESC, item_id
