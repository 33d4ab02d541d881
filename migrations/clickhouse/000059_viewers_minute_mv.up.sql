-- events -> viewers_minute, of watched items only: while none is watched the set is empty and nothing is grouped. It reads what events_mv wrote and
-- not events_in, so that faults and heartbeats are gone already. Flagged events are never counted.
-- The version is asked for with IN, not as a scalar: the engine answers a scalar subquery of a view when an insert begins, and cancelled inserts
-- of rows sent by HTTP over it (26.7).
CREATE MATERIALIZED VIEW topk.viewers_minute_mv TO topk.viewers_minute AS
SELECT item_type, item_id, toStartOfMinute(toDateTime(event_time, 'UTC')) AS minute, uniqCombinedState(12)(viewer) AS viewers
FROM topk.events
WHERE empty(flags) AND (item_type, item_id) IN
(
    SELECT item_type, item_id
    FROM topk.watched_items
    WHERE version IN (SELECT max(version) FROM topk.watched_items)
)
GROUP BY item_type, item_id, minute
