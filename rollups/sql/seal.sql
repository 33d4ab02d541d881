-- Say of buckets that every row of their sketches has been filled, and with how many views: the least total of a row, since
-- more may have arrived while others were filled.
-- Parameters: target: table of sketches; slice; buckets: Array(DateTime).
INSERT INTO topk.{target:Identifier} (item_type, slice, bucket, width, row, cell, n)
SELECT '', {slice:String}, bucket, 0, 255, 0, min(views)
FROM
(
    SELECT bucket, row, sum(s.n) AS views
    FROM topk.{target:Identifier} AS s FINAL
    WHERE s.slice = {slice:String} AND s.bucket IN {buckets:Array(DateTime('UTC'))} AND has(topk_cms_rows(), s.row)
    GROUP BY bucket, row
)
GROUP BY bucket
HAVING count() = length(topk_cms_rows())
