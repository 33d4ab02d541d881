-- 100,000 items over 16 x 16 bins of each pair of rows: chi-square with 225 degrees of freedom exceeds 311 once in 10,000
-- times. Rows that follow from each other would be far over it: the bound of a sketch rests on their independence.
SELECT one, other, sum(pow(items - 100000 / 256, 2) / (100000 / 256)) < 311 AS independent
FROM
(
    SELECT one, other, count() AS items,
           intDiv(topk_cms_cell(one, concat('v_', toString(number)), toUInt32(271829)) * 16, 271829) AS bin_of_one,
           intDiv(topk_cms_cell(other, concat('v_', toString(number)), toUInt32(271829)) * 16, 271829) AS bin_of_other
    FROM numbers(100000)
    ARRAY JOIN topk_cms_rows() AS one
    ARRAY JOIN topk_cms_rows() AS other
    WHERE one < other
    GROUP BY one, other, bin_of_one, bin_of_other
)
GROUP BY one, other
ORDER BY one, other
