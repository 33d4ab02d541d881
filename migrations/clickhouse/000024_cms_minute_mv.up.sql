-- counts_in -> cms_minute: each count goes to one cell of each of the 5 rows.
-- Items that share a cell are left to the insert to add up. Sorted as the table is, so that the insert
-- need not sort again: that is most of the cost of a sketch.
CREATE MATERIALIZED VIEW topk.cms_minute_mv TO topk.cms_minute AS
SELECT item_type, slice, bucket, width, row, topk_cms_cell(row, item_id, width) AS cell, views AS n
FROM
(
    SELECT item_type, item_id, 'global' AS slice, toStartOfMinute(second) AS bucket,
           topk_cms_width(slice) AS width, sum(c.n) AS views
    FROM topk.counts_in AS c
    WHERE valid = 1
    GROUP BY item_type, item_id, bucket
)
ARRAY JOIN topk_cms_rows() AS row
ORDER BY item_type, slice, bucket, width, row, cell
