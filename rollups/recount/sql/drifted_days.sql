-- Which days differ from the sum of their hours?
-- Parameters: days: Array(DateTime) and their versions: Array(UInt64); hours: Array(DateTime) and hour_versions: Array(UInt64), of
-- all these days. Rows: those that differ: day, in how many (item, dimensions), by how many views in all, and up to three of them.
SELECT day, count(), toUInt64(sum(abs(drift))), groupArray(3)(concat(type, ' ', item_id))
FROM
(
    SELECT day, toString(item_type) AS type, item_id, toString(country) AS land, toString(category) AS kind, toString(language) AS tongue,
           sum(views) AS drift
    FROM
    (
        SELECT day, item_type, item_id, country, category, language, toInt64(n) AS views FROM topk.counts_daily FINAL
        WHERE (day, version) IN arrayZip({days:Array(DateTime('UTC'))}, {versions:Array(UInt64)})
        UNION ALL
        SELECT toStartOfDay(hour), item_type, item_id, country, category, language, -toInt64(n) FROM topk.counts_hourly FINAL
        WHERE (hour, version) IN arrayZip({hours:Array(DateTime('UTC'))}, {hour_versions:Array(UInt64)})
    )
    GROUP BY day, type, item_id, land, kind, tongue
    HAVING drift != 0
)
GROUP BY day
ORDER BY day
