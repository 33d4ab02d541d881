-- topk_slices(country String, category String, language String, dimensions Array(UInt8)) -> Array(String): the names of the slices of some
-- combinations of dimensions that a view belongs to: 1 for country, 2 for category and 4 for language, added up.
-- Example: SELECT topk_slices('IN', 'music', 'hi', [1, 2, 4, 3, 5])
-- Error: none.
-- Source: internal/slice, whose names a test compares.
CREATE OR REPLACE FUNCTION topk_slices AS (country, category, language, dimensions) ->
    arrayMap(d -> topk_slice_name(d, country, category, language), dimensions)
