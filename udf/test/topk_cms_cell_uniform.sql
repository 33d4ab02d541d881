-- 100,000 items over 256 bins of each row: chi-square with 255 degrees of freedom exceeds 347 once in 10,000 times.
SELECT row, sum(pow(items - 100000 / 256, 2) / (100000 / 256)) < 347 AS uniform
FROM
(
    SELECT row, intDiv(topk_cms_cell(row, concat('v_', toString(number)), toUInt32(271829)) * 256, 271829) AS bin,
           count() AS items
    FROM numbers(100000)
    ARRAY JOIN topk_cms_rows() AS row
    GROUP BY row, bin
)
GROUP BY row
ORDER BY row
