-- topk_slice_value(value String) -> String: a value of a dimension as it stands in the name of a slice.
-- Example: SELECT topk_slice_value('rock, pop')
-- Error: none; NULL is '', which is not known.
-- Source: internal/slice. Replacing without looking first is the faster way: on LowCardinality it is done once a value, and
-- an if() around it makes the column a full one.
CREATE OR REPLACE FUNCTION topk_slice_value AS (value) ->
    replaceAll(replaceAll(replaceAll(ifNull(value, ''), '%', '%25'), ',', '%2C'), '|', '%7C')
