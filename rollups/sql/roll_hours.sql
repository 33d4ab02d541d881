-- Which hours of [from, until) hold views, and how many of them are in cms_hour?
-- Each view is in one cell of row 0, so the cells of that row add up to all views.
-- Parameters: slice; from, until (DateTime). Rows: hour, views that arrived (replays included, as in the sketch), views filled.
SELECT hour, arrived.views AS arrived, filled.views AS filled
FROM
(
    SELECT toStartOfHour(bucket) AS hour, sum(applied) AS views
    FROM topk.topk_10s
    WHERE slice = {slice:String} AND bucket >= {from:DateTime('UTC')} AND bucket < {until:DateTime('UTC')}
    GROUP BY hour
) AS arrived
LEFT JOIN
(
    SELECT bucket AS hour, sum(n) AS views
    FROM topk.cms_hour FINAL
    WHERE slice = {slice:String} AND row = 0 AND bucket >= {from:DateTime('UTC')} AND bucket < {until:DateTime('UTC')}
    GROUP BY bucket
) AS filled USING (hour)
ORDER BY hour
