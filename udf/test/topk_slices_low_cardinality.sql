-- LowCardinality, constant and full columns have the same names.
WITH ['country+category', 'country+language'] AS pairs
SELECT category, topk_slices(toLowCardinality('IN'), toLowCardinality(category), toLowCardinality('hi'), pairs) =
                 topk_slices('IN', category, 'hi', pairs) AS low_cardinality,
       topk_slices(CAST('IN' AS LowCardinality(Nullable(String))), category, materialize('hi'), pairs) =
                 topk_slices('IN', category, 'hi', pairs) AS nullable,
       topk_slices('IN', category, 'hi', pairs) = topk_slices('IN', category, 'hi', materialize(pairs)) AS changing_pairs
FROM values('category String', (''), ('music'), ('a,b|c%'), ('🎵'))
