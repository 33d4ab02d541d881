-- Add up the sketches of an hour's minutes. An hour is filled whole, and of what was filled for a cell the greatest counts: a
-- repeat, or an attempt that ended half way, changes nothing.
-- Parameters: slice; bucket: the hour, until: its end (DateTime).
INSERT INTO topk.cms_hour (item_type, slice, bucket, width, row, cell, n)
SELECT item_type, slice, {bucket:DateTime('UTC')}, width, row, cell, sum(n)
FROM topk.cms_minute
WHERE slice = {slice:String} AND cms_minute.bucket >= {bucket:DateTime('UTC')} AND cms_minute.bucket < {until:DateTime('UTC')}
GROUP BY item_type, slice, width, row, cell
