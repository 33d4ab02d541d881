-- Which items may be among the most viewed of [from, as_of), and how many views can any other item have?
-- Summaries of blocks are added up: an item that a summary leaves out has at most its floor there, so
--   upper = over + floors, where over adds (count - floor) of the summaries that hold the item, and floors adds all floors.
-- These are plain sums: the order of rows changes nothing. Source: Cafaro, Pulimeno, Tempesta, "A parallel Space Saving
-- algorithm" (2016), with the floors kept apart. Buckets that only overlap the window are read whole: upper grows, and
-- stays true.
-- Combined summaries are named, and stand for what they absorbed; rows never change. Each table's rows are read once, items
-- and floors together (floor and views go as an item without a name), so the answer is true of whatever was there at that moment.
-- Parameters: slice; types: Array(String); from, as_of (DateTime); minutes, tens: Array(UInt64), names of rows of topk_minute
-- wholly inside and of topk_10s_combined that have no row of topk_10s in common; most: how many of a type; depth: items
-- read of a row of topk_10s, the next one's count is its floor then.
-- Rows: item_type, item_id, over, lower (from buckets wholly inside). One type's rows: first that of an empty
-- item_id, whose over are the floors and lower all views of buckets wholly inside, then greatest over first.
WITH
    summaries AS
    (
        SELECT item_type, arraySlice(s.items, 1, {depth:UInt32}) AS items,
               greatest(s.floor, tupleElement(s.items[{depth:UInt32} + 1], 'count')) AS floor,
               applied, bucket >= {from:DateTime('UTC')} AND bucket + INTERVAL 10 SECOND <= {as_of:DateTime('UTC')} AS inside
        FROM topk.topk_10s AS s
        WHERE slice = {slice:String} AND item_type IN {types:Array(String)}
          AND bucket > {from:DateTime('UTC')} - INTERVAL 10 SECOND AND bucket < {as_of:DateTime('UTC')}
          AND block NOT IN
          (
              SELECT arrayJoin(absorbed) FROM topk.topk_minute
              WHERE slice = {slice:String} AND bucket >= {from:DateTime('UTC')} AND bucket < {as_of:DateTime('UTC')}
                AND block IN {minutes:Array(UInt64)}
              UNION ALL
              SELECT arrayJoin(absorbed) FROM topk.topk_10s_combined
              WHERE slice = {slice:String} AND bucket > {from:DateTime('UTC')} - INTERVAL 10 SECOND AND bucket < {as_of:DateTime('UTC')}
                AND block IN {tens:Array(UInt64)}
          )
        UNION ALL
        SELECT item_type, items, floor, applied,
               bucket >= {from:DateTime('UTC')} AND bucket + INTERVAL 10 SECOND <= {as_of:DateTime('UTC')} AS inside
        FROM topk.topk_10s_combined
        WHERE slice = {slice:String} AND item_type IN {types:Array(String)}
          AND bucket > {from:DateTime('UTC')} - INTERVAL 10 SECOND AND bucket < {as_of:DateTime('UTC')}
          AND block IN {tens:Array(UInt64)}
        UNION ALL
        SELECT item_type, items, floor, applied, 1 AS inside
        FROM topk.topk_minute
        WHERE slice = {slice:String} AND item_type IN {types:Array(String)}
          AND bucket >= {from:DateTime('UTC')} AND bucket < {as_of:DateTime('UTC')}
          AND block IN {minutes:Array(UInt64)}
    )
SELECT item_type, tupleElement(x, 1) AS item_id, sum(toUInt64(tupleElement(x, 2) - floor)) AS over,
       sumIf(toUInt64(tupleElement(x, 2) - tupleElement(x, 3)), inside) AS lower
FROM summaries
ARRAY JOIN arrayPushFront(items, CAST(('', 2 * floor, 2 * floor - applied), 'Tuple(item String, count UInt64, error UInt64)')) AS x
GROUP BY item_type, item_id
ORDER BY item_type, item_id != '', over DESC, item_id
LIMIT {most:UInt32} + 1 BY item_type
