-- The newest total, plus days, less the versions of days that they replace: corrections are differences, and a day that is
-- already in it cannot be added again. Nothing of it is read until it is in the ledger.
-- Parameters: version, last (0 = none); add, added: days and their versions to add; remove, removed: the same to take out.
INSERT INTO topk.counts_total (item_type, item_id, version, country, category, language, n)
SELECT type, item_id, {version:UInt64}, land, kind, tongue, toUInt64(sum(views)) AS views_of_item
FROM
(
    SELECT toString(item_type) AS type, item_id, toString(country) AS land, toString(category) AS kind, toString(language) AS tongue,
           toInt64(n) AS views
    FROM topk.counts_total FINAL
    WHERE counts_total.version = {last:UInt64}
    UNION ALL
    SELECT toString(item_type), item_id, toString(country), toString(category), toString(language), toInt64(n)
    FROM topk.counts_daily FINAL
    WHERE (day, counts_daily.version) IN arrayZip({add:Array(DateTime('UTC'))}, {added:Array(UInt64)})
    UNION ALL
    SELECT toString(item_type), item_id, toString(country), toString(category), toString(language), -toInt64(n)
    FROM topk.counts_daily FINAL
    WHERE (day, counts_daily.version) IN arrayZip({remove:Array(DateTime('UTC'))}, {removed:Array(UInt64)})
)
GROUP BY type, item_id, land, kind, tongue
HAVING throwIf(sum(views) < 0, 'a total fell below zero') = 0 AND views_of_item != 0
