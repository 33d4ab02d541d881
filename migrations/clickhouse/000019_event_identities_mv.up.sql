-- events_in -> event_identities: flagged events are never counted, so they are no duplicates either. Rows written by hand may
-- be cut into blocks anywhere, so those of each block go under a name of their own.
CREATE MATERIALIZED VIEW topk.event_identities_mv TO topk.event_identities AS
SELECT item_type, second, stamped, partition, if(hand, -1 - toInt64(rand64() % 9223372036854775807), message) AS offset,
       length(identities) AS events, identities
FROM
(
    SELECT item_type, toDateTime(event_time, 'UTC') AS second, stamped, partition, topic = '' AS hand,
           if(hand, 0, offset) AS message, groupArray(topk_event_identity(item_id, event_time, event_id)) AS identities
    FROM topk.events_in
    WHERE valid = 1 AND empty(flags)
    GROUP BY item_type, second, stamped, partition, hand, message
)
