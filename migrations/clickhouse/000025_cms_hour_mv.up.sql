-- cms_minute -> cms_hour: cells of equal width add up, when they are inserted, merged and read. Grouping them here would cost
-- more: a block holds a minute or two, so almost no two of its cells meet.
CREATE MATERIALIZED VIEW topk.cms_hour_mv TO topk.cms_hour AS
SELECT item_type, slice, toStartOfHour(s.bucket) AS bucket, width, row, cell, s.n AS n
FROM topk.cms_minute AS s
