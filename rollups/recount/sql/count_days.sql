-- Add up the hours of some days. Nothing of it is read until it is in the ledger.
-- Parameters: hours: Array(DateTime) and their versions: Array(UInt64); version: of the days.
INSERT INTO topk.counts_daily (item_type, item_id, day, version, country, category, language, n)
SELECT toString(item_type) AS type, item_id, toStartOfDay(hour) AS day, {version:UInt64},
       toString(counts_hourly.country) AS land, toString(counts_hourly.category) AS kind,
       toString(counts_hourly.language) AS tongue, sum(counts_hourly.n)
FROM topk.counts_hourly FINAL
WHERE (hour, counts_hourly.version) IN arrayZip({hours:Array(DateTime('UTC'))}, {versions:Array(UInt64)})
GROUP BY type, item_id, day, land, kind, tongue
