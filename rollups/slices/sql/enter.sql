-- Enter minutes whose slices have been written, with what is known of them as a whole.
-- Events that repeat are told second by second, as in rollups/duplicates.go: of a second that has more events than views from its events
-- alone, because either topic may be ahead for late events.
-- Parameters: types: Array(String); minutes: Array(DateTime); from, until (DateTime) around them; version; slices: how many are kept of an item type and minute.
INSERT INTO topk.filled_minutes (minute, item_type, version, views, held, repeats, untimed, ahead, left_out)
SELECT minute, item_type, {version:UInt64}, sum(found.views), sum(found.held), sum(found.repeats), sum(found.untimed), sum(found.ahead), sum(found.left_out)
FROM
(
    SELECT minute, item_type, sumIf(views, dimensions = 1) AS views, 0 AS held, 0 AS repeats, 0 AS untimed, 0 AS ahead, max(left_out) AS left_out
    FROM
    (
        SELECT minute, item_type, dimensions, sum(slice_views) AS views, if(count() > {slices:UInt32}, min(slice_views), 0) AS left_out
        FROM
        (
            SELECT minute, item_type, dimensions, slice, any(s.views) AS slice_views
            FROM topk.slice_minutes AS s
            WHERE minute IN {minutes:Array(DateTime('UTC'))} AND version = {version:UInt64}
            GROUP BY minute, item_type, dimensions, slice
        )
        GROUP BY minute, item_type, dimensions
    )
    GROUP BY minute, item_type
    UNION ALL
    SELECT minute, item_type, 0, sum(n), 0, 0, 0, 0
    FROM topk.counts_minute
    WHERE minute IN {minutes:Array(DateTime('UTC'))}
    GROUP BY minute, item_type
    UNION ALL
    SELECT toStartOfMinute(second) AS minute, item_type, 0, 0, sum(greatest(landed, arrived) - different), sum(untimed), sum(ahead), 0
    FROM
    (
        SELECT second, item_type, sum(l.landed) AS landed, sum(l.arrived) AS arrived, sum(l.different) AS different,
               sum(l.untimed) AS untimed, sum(l.ahead) AS ahead
        FROM
        (
            SELECT second, item_type, n AS landed, 0 AS arrived, 0 AS different, 0 AS untimed, 0 AS ahead
            FROM topk.landed FINAL
            WHERE second >= {from:DateTime('UTC')} AND second < {until:DateTime('UTC')}
            UNION ALL
            SELECT second, item_type, 0, sum(length(identities)), uniqExactArray(identities), uniqExactArrayIf(identities, stamped = 1),
                   uniqExactArrayIf(identities, stamped > 1)
            FROM topk.event_identities FINAL
            WHERE second >= {from:DateTime('UTC')} AND second < {until:DateTime('UTC')}
            GROUP BY second, item_type
        ) AS l
        GROUP BY second, item_type
    )
    WHERE minute IN {minutes:Array(DateTime('UTC'))}
    GROUP BY minute, item_type
) AS found
WHERE item_type IN {types:Array(String)}
GROUP BY minute, item_type
