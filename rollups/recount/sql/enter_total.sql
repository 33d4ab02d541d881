-- Enter a total in the ledger, with the days it holds: those of the one that it started from, and those that were added.
-- Parameters: version, last (0 = none); add, added: days that were added and their versions.
INSERT INTO topk.recounts_total (version, days, versions, events)
WITH
    (
        SELECT groupArrayArray(arrayZip(days, versions))
        FROM (SELECT DISTINCT days, versions FROM topk.recounts_total WHERE version = {last:UInt64})
    ) AS held,
    arrayZip({add:Array(DateTime('UTC'))}, {added:Array(UInt64)}) AS new,
    arraySort(arrayConcat(arrayFilter(x -> NOT has(new.1, x.1), held), new)) AS all
SELECT {version:UInt64}, all.1, all.2, (SELECT sum(n) FROM topk.counts_total FINAL WHERE version = {version:UInt64})
