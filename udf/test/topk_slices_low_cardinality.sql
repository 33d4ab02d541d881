-- LowCardinality, constant and full columns have the same names.
WITH [1, 2, 4, 3, 5] AS dimensions
SELECT category, topk_slices(toLowCardinality('IN'), toLowCardinality(category), toLowCardinality('hi'), dimensions) =
                 topk_slices('IN', category, 'hi', dimensions) AS low_cardinality,
       topk_slices(CAST('IN' AS LowCardinality(Nullable(String))), category, materialize('hi'), dimensions) =
                 topk_slices('IN', category, 'hi', dimensions) AS nullable,
       topk_slices('IN', category, 'hi', dimensions) = topk_slices('IN', category, 'hi', materialize(dimensions)) AS changing_dimensions
FROM values('category String', (''), ('music'), ('a,b|c%'), ('🎵'))
