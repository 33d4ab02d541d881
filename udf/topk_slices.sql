-- topk_slices(country String, category String, language String, pairs Array(String)) -> Array(String): the names of all
-- base slices that a view belongs to, without global: three of one dimension, then each pair that is in pairs.
-- Example: SELECT topk_slices('IN', 'music', 'hi', ['country+category', 'country+language'])
-- Error: none; whatever else is in pairs is passed over.
-- Source: internal/slice, whose names a test compares. Whole arrays to choose from take half the time of arrayConcat().
CREATE OR REPLACE FUNCTION topk_slices AS (country, category, language, pairs) ->
    multiIf(
        has(pairs, 'country+category') AND has(pairs, 'country+language'), [
            concat('country=', topk_slice_value(country)),
            concat('category=', topk_slice_value(category)),
            concat('language=', topk_slice_value(language)),
            concat('country=', topk_slice_value(country), ',category=', topk_slice_value(category)),
            concat('country=', topk_slice_value(country), ',language=', topk_slice_value(language))],
        has(pairs, 'country+category'), [
            concat('country=', topk_slice_value(country)),
            concat('category=', topk_slice_value(category)),
            concat('language=', topk_slice_value(language)),
            concat('country=', topk_slice_value(country), ',category=', topk_slice_value(category))],
        has(pairs, 'country+language'), [
            concat('country=', topk_slice_value(country)),
            concat('category=', topk_slice_value(category)),
            concat('language=', topk_slice_value(language)),
            concat('country=', topk_slice_value(country), ',language=', topk_slice_value(language))],
        [
            concat('country=', topk_slice_value(country)),
            concat('category=', topk_slice_value(category)),
            concat('language=', topk_slice_value(language))])
