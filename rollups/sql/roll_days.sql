-- Which days of [from, until) hold views in cms_hour, and how many of them are in cms_day?
-- Each view is in one cell of row 0, so the cells of that row add up to all views.
-- Parameters: slice; from, until (DateTime), midnights. Rows: day, views of its hours, views filled.
SELECT day, arrived.views AS arrived, filled.views AS filled
FROM
(
    SELECT toStartOfDay(bucket) AS day, sum(n) AS views
    FROM topk.cms_hour FINAL
    WHERE slice = {slice:String} AND row = 0 AND bucket >= {from:DateTime('UTC')} AND bucket < {until:DateTime('UTC')}
    GROUP BY day
) AS arrived
LEFT JOIN
(
    SELECT bucket AS day, sum(n) AS views
    FROM topk.cms_day FINAL
    WHERE slice = {slice:String} AND row = 0 AND bucket >= {from:DateTime('UTC')} AND bucket < {until:DateTime('UTC')}
    GROUP BY bucket
) AS filled USING (day)
ORDER BY day
