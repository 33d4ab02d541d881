-- Does the newest total differ from the sum of the days it holds?
-- Rows: one, of the (item, dimensions) that differ, by how many views in all, up to three of them, and the days it holds.
SELECT count(), toUInt64(sum(abs(drift))), groupArray(3)(concat(type, ' ', item_id)), (SELECT count() FROM topk.folded_days)
FROM
(
    SELECT toString(item_type) AS type, item_id, toString(country) AS land, toString(category) AS kind, toString(language) AS tongue, sum(views) AS drift
    FROM
    (
        SELECT item_type, item_id, country, category, language, toInt64(n) AS views FROM topk.counts_total FINAL
        WHERE version IN (SELECT max(r.version) FROM topk.recounts_total AS r)
        UNION ALL
        SELECT item_type, item_id, country, category, language, -toInt64(n) FROM topk.counts_daily FINAL
        WHERE (day, version) IN (SELECT day, version FROM topk.folded_days)
    )
    GROUP BY type, item_id, land, kind, tongue
    HAVING drift != 0
)
