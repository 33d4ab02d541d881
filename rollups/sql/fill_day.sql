-- Add up the sketches of a day's hours, of each hour what was filled last. A repeat changes nothing, as in cms_hour.
-- Parameters: slice; bucket: the day, until: its end (DateTime).
INSERT INTO topk.cms_day (item_type, slice, bucket, width, row, cell, n)
SELECT item_type, slice, {bucket:DateTime('UTC')}, width, row, cell, sum(n)
FROM topk.cms_hour FINAL
WHERE slice = {slice:String} AND cms_hour.bucket >= {bucket:DateTime('UTC')} AND cms_hour.bucket < {until:DateTime('UTC')}
GROUP BY item_type, slice, width, row, cell
