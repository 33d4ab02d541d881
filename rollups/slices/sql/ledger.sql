-- What has landed for each minute of [from, until), and what of it do the slices hold? Of the item types of most views, and of those asked for.
-- Parameters: from, until (DateTime), whole minutes; types: Array(String), asked for; most: how many others, of those that landed in reach
-- seconds. Rows: minute, item_type, landed: views, by_hand: views written by hand, which are not in
-- landed; taken: views that counts_minute took in, replays included; and of the newest filling, all zero where there is none: version, views,
-- held, repeats, untimed, ahead, left_out; is_busy: 1 for those that slices are kept of.
WITH
    busiest AS
    (
        SELECT item_type
        FROM topk.landed FINAL
        WHERE second >= {until:DateTime('UTC')} - {reach:UInt32} AND second < {until:DateTime('UTC')}
        GROUP BY item_type
        ORDER BY sum(n + by_hand) DESC, item_type
        LIMIT {most:UInt32}
    )
SELECT minute, item_type, sum(l.landed) AS landed, sum(l.by_hand) AS by_hand, sum(l.taken) AS taken, sum(l.version) AS version, sum(l.views) AS views,
       sum(l.held) AS held, sum(l.repeats) AS repeats, sum(l.untimed) AS untimed, sum(l.ahead) AS ahead, sum(l.left_out) AS left_out,
       item_type IN busiest AS is_busy
FROM
(
    SELECT toStartOfMinute(second) AS minute, item_type, n AS landed, d.by_hand AS by_hand, 0 AS taken, 0 AS version, 0 AS views, 0 AS held,
           0 AS repeats, 0 AS untimed, 0 AS ahead, 0 AS left_out
    FROM topk.landed AS d FINAL
    WHERE second >= {from:DateTime('UTC')} AND second < {until:DateTime('UTC')}
      AND (item_type IN {types:Array(String)} OR item_type IN busiest)
    UNION ALL
    SELECT toStartOfMinute(bucket), item_type, 0, 0, applied, 0, 0, 0, 0, 0, 0, 0
    FROM topk.topk_10s
    WHERE slice = 'global' AND bucket >= {from:DateTime('UTC')} AND bucket < {until:DateTime('UTC')}
      AND (item_type IN {types:Array(String)} OR item_type IN busiest)
    UNION ALL
    SELECT minute, item_type, 0, 0, 0, f.version, f.views, f.held, f.repeats, f.untimed, f.ahead, f.left_out
    FROM
    (
        SELECT * FROM topk.filled_minutes
        WHERE minute >= {from:DateTime('UTC')} AND minute < {until:DateTime('UTC')} AND item_type != ''
          AND (item_type IN {types:Array(String)} OR item_type IN busiest)
        ORDER BY version DESC
        LIMIT 1 BY minute, item_type
    ) AS f
) AS l
GROUP BY minute, item_type
ORDER BY minute, item_type
