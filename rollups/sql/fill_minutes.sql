-- Fill some rows of the sketches of minutes: each view goes to one cell of a row.
-- Of what was filled for a cell the greatest counts: a repeat, or an attempt that ended half way, changes nothing.
-- Parameters: slice; buckets: Array(DateTime), the minutes; rows: Array(UInt8).
INSERT INTO topk.cms_minute (item_type, slice, bucket, width, row, cell, n)
SELECT item_type, {slice:String}, minute, topk_cms_width({slice:String}) AS cells, sketch_row,
       topk_cms_cell(sketch_row, item_id, cells) AS item_cell, sum(n)
FROM topk.counts_minute
ARRAY JOIN {rows:Array(UInt8)} AS sketch_row
WHERE minute IN {buckets:Array(DateTime('UTC'))}
GROUP BY item_type, minute, sketch_row, item_cell
