-- topk_slice_name(dimensions UInt8, country String, category String, language String) -> String: the name of a slice, of whose dimensions
-- the values are given: 1 for country, 2 for category and 4 for language, added up, 0 for all views.
-- Example: SELECT topk_slice_name(3, 'IN', 'music', '')
-- Error: none.
-- Source: internal/slice, whose names a test compares.
CREATE OR REPLACE FUNCTION topk_slice_name AS (dimensions, country, category, language) -> if(dimensions = 0, 'global', arrayStringConcat(arrayConcat(
    if(bitTest(dimensions, 0), [concat('country=', topk_slice_value(country))], []),
    if(bitTest(dimensions, 1), [concat('category=', topk_slice_value(category))], []),
    if(bitTest(dimensions, 2), [concat('language=', topk_slice_value(language))], [])), ','))
