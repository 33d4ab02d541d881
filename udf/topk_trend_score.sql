-- topk_trend_score(fast Float64, slow Float64, floor Float64, views UInt64, age seconds) -> Float64: by what items that trend are ordered: velocity,
-- damped by the views of the last hour, and up to doubled for what is new.
-- Example: SELECT topk_trend_score(500, 2400, 500, 450, 7200)
-- Error: none.
-- Source: internal/list, whose formulas a test compares.
CREATE OR REPLACE FUNCTION topk_trend_score AS (fast, slow, floor, views, age) ->
    topk_trend_velocity(fast, slow, floor) * log1p(views) * (1 + topk_trend_novelty(age))
