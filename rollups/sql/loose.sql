-- Which whole minutes of [from, until) have summaries that topk_minute has not absorbed yet?
-- Parameters: slice; from, until (DateTime). Rows: minute, loose summaries of its busiest type, combined: whether the
-- minute has been combined before. Most loose first.
SELECT minute, max(summaries) AS loose, minute IN
       (
           SELECT bucket FROM topk.topk_minute
           WHERE slice = {slice:String} AND bucket >= {from:DateTime('UTC')} AND bucket < {until:DateTime('UTC')}
       ) AS combined
FROM
(
    SELECT toStartOfMinute(bucket) AS minute, item_type, count() AS summaries
    FROM topk.topk_10s
    WHERE slice = {slice:String} AND bucket >= {from:DateTime('UTC')} AND bucket < {until:DateTime('UTC')}
      AND block NOT IN
      (
          SELECT arrayJoin(absorbed) FROM topk.topk_minute
          WHERE slice = {slice:String} AND bucket >= {from:DateTime('UTC')} AND bucket < {until:DateTime('UTC')}
      )
    GROUP BY minute, item_type
)
GROUP BY minute
ORDER BY loose DESC, minute
