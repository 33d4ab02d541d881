-- Seal the days before `until` that hold, and of which no hour was entered after `entered`: their hours are dropped afterwards.
-- Parameters: until (DateTime); entered: wall clock of ClickHouse, epoch milliseconds.
INSERT INTO topk.recounts_daily (day, version, hours, events, items, sealed)
SELECT day, d.version, d.hours, d.events, d.items, 1
FROM topk.recounts_daily AS d
WHERE (day, d.version) IN (SELECT day, version FROM topk.day_versions WHERE holds AND NOT sealed AND day < {until:DateTime('UTC')})
  AND day NOT IN (SELECT toStartOfDay(hour) FROM topk.recounts AS r WHERE toUnixTimestamp64Milli(r.recounted_at) > {entered:Int64})
  AND d.sealed = 0
LIMIT 1 BY day
