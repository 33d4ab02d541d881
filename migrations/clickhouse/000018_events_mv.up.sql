-- events_in -> events.
CREATE MATERIALIZED VIEW topk.events_mv TO topk.events AS
SELECT event_id, item_type, item_id, event_time, country, category, language, viewer, flags, stamped, ingestor,
       sent_at AS received_at
FROM topk.events_in
WHERE valid = 1
