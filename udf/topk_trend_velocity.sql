-- topk_trend_velocity(fast Float64, slow Float64, floor Float64) -> Float64: how many times as fast as usual an item is viewed: its views with a
-- half-life of an hour, over an hour's share of those with a half-life of 24 hours, or over floor views where that is less.
-- Example: SELECT topk_trend_velocity(500, 2400, 500)
-- Error: none.
-- Source: internal/list, whose formulas a test compares.
CREATE OR REPLACE FUNCTION topk_trend_velocity AS (fast, slow, floor) -> fast / greatest(slow / 24, floor)
