-- cms_minute -> cms_hour: cells of equal width add up.
CREATE MATERIALIZED VIEW topk.cms_hour_mv TO topk.cms_hour AS
SELECT item_type, slice, toStartOfHour(s.bucket) AS bucket, width, row, cell, sum(s.n) AS n
FROM topk.cms_minute AS s
GROUP BY item_type, slice, bucket, width, row, cell
