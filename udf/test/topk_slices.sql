-- Single dimensions, then the pairs that are asked for, in this order whatever theirs is. Nothing else is a pair.
SELECT country, category, language, pairs, topk_slices(country, category, language, pairs) AS slices
FROM values('country Nullable(String), category Nullable(String), language Nullable(String), pairs Array(String)',
    ('IN', 'music', 'hi', []), ('IN', 'music', 'hi', ['country+category']), ('IN', 'music', 'hi', ['country+language']),
    ('IN', 'music', 'hi', ['country+language', 'country+category']), ('IN', 'music', 'hi', ['category+language', 'country']),
    ('', '', '', ['country+category', 'country+language']), (NULL, NULL, NULL, ['country+category', 'country+language']),
    ('DE', 'a,b|c%=d', 'de', ['country+category', 'country+language']), ('DE', '🎵', '', ['country+category']),
    ('EG', 'موسيقى', 'ar', ['country+category', 'country+language']))
