-- counts_in -> landed. Rows written by hand may be one message cut into several blocks, so those of each block go under a name of
-- their own.
CREATE MATERIALIZED VIEW topk.landed_mv TO topk.landed AS
SELECT item_type, second, sender AS ingestor, if(hand, rand64(), message) AS sequence, if(hand, 0, views) AS n,
       if(hand, views, 0) AS by_hand
FROM
(
    SELECT item_type, second, topic = '' AS hand, if(hand, '', ingestor) AS sender, if(hand, 0, sequence) AS message,
           sum(c.n) AS views
    FROM topk.counts_in AS c
    WHERE valid = 1
    GROUP BY item_type, second, hand, sender, message
)
