-- What do these summaries hold?
-- Parameters: as in blocks.sql; depth: items read of a row, the next one's count is its floor then; blocks: Array(UInt64), names.
-- Rows: block, item_type, bucket, floor, views of all items, and three arrays of one length: items, greatest count first, counts, errors.
SELECT block, item_type, bucket, greatest(s.floor, tupleElement(s.items[{depth:UInt32} + 1], 'count')) AS floor, applied,
       tupleElement(arraySlice(s.items, 1, {depth:UInt32}) AS top, 'item') AS ids, tupleElement(top, 'count') AS counts,
       tupleElement(top, 'error') AS errors
FROM topk.topk_10s AS s
WHERE slice = {slice:String} AND item_type IN {types:Array(String)}
  AND bucket > {from:DateTime('UTC')} - INTERVAL 10 SECOND AND bucket < {as_of:DateTime('UTC')}
  AND block IN {blocks:Array(UInt64)}
