-- cms_hour -> cms_day: cells of equal width add up, when they are inserted, merged and read. Grouping them here would cost
-- more: a block holds a minute or two, so almost no two of its cells meet.
CREATE MATERIALIZED VIEW topk.cms_day_mv TO topk.cms_day AS
SELECT item_type, slice, toStartOfDay(s.bucket) AS bucket, width, row, cell, s.n AS n
FROM topk.cms_hour AS s
