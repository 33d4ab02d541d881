-- What are the most viewed items of each type in [from, until)? Repeats are removed, flagged events are left out, and of a viewer
-- at most `cap` views of an item count in each UTC hour, as far as the hour lies within. Events without a viewer all count.
-- Only the hours that overlap are read: partitions are hours, and FINAL stays inside them.
-- Views are grouped by one text of item, hour, viewer and the length of the viewer: as separate keys they cost three times as much.
-- A type has no NUL in it, so the first one ends it. An hour is told from the others of a day by its number modulo 64.
-- Parameters: from, until; cap (0 = all count); k: items of each type; types: at most so many, those with the most events.
-- Rows: type, views of all its items, ids of its first k in order, and their views.
SELECT type, sum(views) AS total, arrayMap(x -> x.2, groupArraySorted({k:UInt32})((-toInt64(views), id)) AS top) AS ids,
       arrayMap(x -> toUInt64(-x.1), top) AS counts
FROM
(
    SELECT substring(item, 1, position(item, '\0') - 1) AS type, substring(item, position(item, '\0') + 1) AS id, sum(counted) AS views
    FROM
    (
        SELECT reinterpretAsUInt8(right(key, 1)) AS viewer_bytes, left(key, length(key) - viewer_bytes - 2) AS item,
               if(viewer_bytes = 0, count(), least(count(), {cap:UInt64})) AS counted
        FROM topk.events FINAL
        WHERE event_time >= {from:DateTime64(3, 'UTC')} AND event_time < {until:DateTime64(3, 'UTC')} AND empty(flags)
          AND item_type IN
          (
              SELECT item_type FROM topk.events
              WHERE event_time >= {from:DateTime64(3, 'UTC')} AND event_time < {until:DateTime64(3, 'UTC')}
              GROUP BY item_type
              ORDER BY count() DESC, item_type
              LIMIT {types:UInt32}
          )
        GROUP BY concat(item_type, '\0', item_id, if({cap:UInt64} = 0, '', left(viewer, 255)) AS who,
                        char(toRelativeHourNum(event_time) % 64), char(length(who))) AS key
    )
    GROUP BY item
)
GROUP BY type
ORDER BY type
