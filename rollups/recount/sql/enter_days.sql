-- Enter the sums of days in the ledger, all of them at once.
-- Parameters: hours: Array(DateTime), all of each day, and their versions: Array(UInt64); version: of the days.
INSERT INTO topk.recounts_daily (day, version, hours, events, items)
SELECT made.day, {version:UInt64}, made.versions, counted.views, counted.items
FROM
(
    SELECT toStartOfDay(part.1) AS day, arrayMap(x -> x.2, arraySort(groupArray(part))) AS versions
    FROM (SELECT arrayJoin(arrayZip({hours:Array(DateTime('UTC'))}, {versions:Array(UInt64)})) AS part)
    GROUP BY day
) AS made
LEFT JOIN
(
    SELECT day, sum(n) AS views, uniqExact(item_type, item_id) AS items
    FROM topk.counts_daily FINAL
    WHERE day IN (SELECT toStartOfDay(arrayJoin({hours:Array(DateTime('UTC'))}))) AND version = {version:UInt64}
    GROUP BY day
) AS counted USING (day)
