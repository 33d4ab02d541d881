-- counts_in -> topk_10s: the exact counts of the 4,000 most viewed items of each bucket in the block, and the next
-- count as the floor. Ties fall by item_id, so the same rows give the same summary.
CREATE MATERIALIZED VIEW topk.topk_10s_mv TO topk.topk_10s AS
SELECT item_type, slice, bucket, rand64() AS block, arraySlice(ranked, 1, 4000) AS items,
       tupleElement(ranked[4001], 'count') AS floor, applied
FROM
(
    SELECT item_type, 'global' AS slice, bucket, sum(views) AS applied,
           arrayPartialSort(x -> (-toInt64(x.count), x.item), 4001,
               groupArray(CAST((item_id, views, 0), 'Tuple(item String, count UInt64, error UInt64)'))) AS ranked
    FROM
    (
        SELECT item_type, item_id, toStartOfInterval(second, INTERVAL 10 SECOND) AS bucket, sum(c.n) AS views
        FROM topk.counts_in AS c
        WHERE valid = 1
        GROUP BY item_type, item_id, bucket
    )
    GROUP BY item_type, bucket
)
