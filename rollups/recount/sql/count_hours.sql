-- Count events of some hours: repeats removed, flagged events left out. Nothing of it is read until it is in the ledger.
-- Only those hours are read: partitions are hours, and FINAL stays inside them.
-- Dimensions are grouped as plain texts: as LowCardinality keys they cost half as much again.
-- Parameters: hours: Array(DateTime); version.
INSERT INTO topk.counts_hourly (item_type, item_id, hour, version, country, category, language, n)
SELECT toString(item_type) AS type, item_id, toStartOfHour(event_time) AS hour, {version:UInt64},
       toString(events.country) AS land, toString(events.category) AS kind, toString(events.language) AS tongue, count()
FROM topk.events FINAL
WHERE toStartOfHour(event_time) IN {hours:Array(DateTime('UTC'))} AND empty(flags)
GROUP BY type, item_id, hour, land, kind, tongue
