-- In the order of the dimensions that are asked for.
SELECT country, category, language, dimensions, topk_slices(country, category, language, dimensions) AS slices
FROM values('country Nullable(String), category Nullable(String), language Nullable(String), dimensions Array(UInt8)',
    ('IN', 'music', 'hi', []), ('IN', 'music', 'hi', [1, 2, 4, 3]), ('IN', 'music', 'hi', [1, 2, 4, 5]),
    ('IN', 'music', 'hi', [5, 3, 1, 2, 4, 7, 6]), ('IN', 'music', 'hi', [0]),
    ('', '', '', [3, 5]), (NULL, NULL, NULL, [3, 5]),
    ('DE', 'a,b|c%=d', 'de', [3, 5]), ('DE', '🎵', '', [1, 2, 4, 3]),
    ('EG', 'موسيقى', 'ar', [3, 5]))
