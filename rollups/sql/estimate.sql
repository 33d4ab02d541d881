-- How often was each candidate viewed in these buckets of sketches, at most?
-- Count-Min Sketch: the least of an item's cells never undercounts, and exceeds the truth by more than (e / width) x N
-- with probability at most e^-depth (Cormode, Muthukrishnan 2005). Sketches of different widths add up. Of what was filled
-- for a cell the greatest counts.
-- Parameters: table: of sketches; slice; types, ids: Array(String) of equal length, the candidates; buckets: Array(DateTime),
-- filled whole. Rows: item_type, item_id, estimate.
WITH
    wanted AS
    (
        SELECT tupleElement(candidate, 1) AS item_type, tupleElement(candidate, 2) AS item_id, width, row,
               toUInt32(topk_cms_cell(row, item_id, width)) AS cell
        FROM (SELECT arrayJoin(arrayZip({types:Array(String)}, {ids:Array(String)})) AS candidate) AS c
        CROSS JOIN
        (
            SELECT DISTINCT width FROM topk.{table:Identifier}
            WHERE slice = {slice:String} AND item_type IN {types:Array(String)} AND bucket IN {buckets:Array(DateTime('UTC'))}
        ) AS widths
        ARRAY JOIN topk_cms_rows() AS row
    )
SELECT item_type, item_id, sum(least_cell) AS estimate
FROM
(
    SELECT w.item_type AS item_type, w.item_id AS item_id, w.width AS width, min(c.views) AS least_cell
    FROM wanted AS w
    LEFT JOIN
    (
        SELECT item_type, width, row, cell, sum(greatest_n) AS views
        FROM
        (
            SELECT item_type, bucket, width, row, cell, max(n) AS greatest_n
            FROM topk.{table:Identifier}
            WHERE slice = {slice:String} AND item_type IN {types:Array(String)} AND bucket IN {buckets:Array(DateTime('UTC'))}
              AND (width, row, cell) IN (SELECT width, row, cell FROM wanted)
            GROUP BY item_type, bucket, width, row, cell
        )
        GROUP BY item_type, width, row, cell
    ) AS c ON c.item_type = w.item_type AND c.width = w.width AND c.row = w.row AND c.cell = w.cell
    GROUP BY item_type, item_id, width
)
GROUP BY item_type, item_id
