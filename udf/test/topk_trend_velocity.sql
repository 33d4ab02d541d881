-- An hour's share of the slow views is what is usual, but no less than floor.
SELECT fast, slow, floor, round(topk_trend_velocity(fast, slow, floor), 9) AS velocity
FROM values('fast Float64, slow Float64, floor Float64', (0, 0, 1), (100, 2400, 1), (100, 0, 100), (1e12, 2400, 100), (50, 2400, 1000))
