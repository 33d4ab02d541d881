-- Seal the days before `until` that hold: their hours are dropped afterwards.
-- Parameters: until (DateTime).
INSERT INTO topk.recounts_daily (day, version, hours, events, items, sealed)
SELECT day, d.version, d.hours, d.events, d.items, 1
FROM topk.recounts_daily AS d
WHERE (day, d.version) IN (SELECT day, version FROM topk.day_versions WHERE holds AND NOT sealed AND day < {until:DateTime('UTC')})
  AND d.sealed = 0
LIMIT 1 BY day
