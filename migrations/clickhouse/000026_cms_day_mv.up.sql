-- cms_hour -> cms_day: cells of equal width add up.
CREATE MATERIALIZED VIEW topk.cms_day_mv TO topk.cms_day AS
SELECT item_type, slice, toStartOfDay(s.bucket) AS bucket, width, row, cell, sum(s.n) AS n
FROM topk.cms_hour AS s
GROUP BY item_type, slice, bucket, width, row, cell
