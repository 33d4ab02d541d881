-- events_in -> event_identities: flagged events are never counted, so they are no duplicates either.
CREATE MATERIALIZED VIEW topk.event_identities_mv TO topk.event_identities AS
SELECT item_type, toDateTime(event_time, 'UTC') AS second, topk_event_identity(item_id, event_time, event_id) AS identity
FROM topk.events_in
WHERE valid = 1 AND empty(flags)
