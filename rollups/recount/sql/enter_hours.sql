-- Enter recounts in the ledger, all of them at once: from here on they count. Their totals are those of the rows that were
-- written.
-- Parameters: hours: Array(DateTime); of each: events: rows that were there, blocks: greatest of events when it began; version; why.
INSERT INTO topk.recounts (hour, version, events, distinct_events, items, events_block, why)
SELECT h.hour, {version:UInt64}, h.found.2, counted.views, counted.items, h.found.3, {why:String}
FROM
(
    SELECT arrayJoin(arrayZip({hours:Array(DateTime('UTC'))}, {events:Array(UInt64)}, {blocks:Array(Int64)})) AS found, found.1 AS hour
) AS h
LEFT JOIN
(
    SELECT hour, sum(n) AS views, uniqExact(item_type, item_id) AS items
    FROM topk.counts_hourly FINAL
    WHERE hour IN {hours:Array(DateTime('UTC'))} AND version = {version:UInt64}
    GROUP BY hour
) AS counted USING (hour)
