-- Which version of each hour counts? A row an hour.
CREATE VIEW topk.hour_versions AS
SELECT hour, max(r.version) AS version, argMax(r.events, r.version) AS events,
       argMax(r.distinct_events, r.version) AS distinct_events, argMax(r.items, r.version) AS items,
       max(r.events_block) AS events_block, argMax(r.why, r.version) AS why,
       argMax(r.recounted_at, r.version) AS recounted_at
FROM topk.recounts AS r
GROUP BY hour
COMMENT 'which recount of each hour counts'
