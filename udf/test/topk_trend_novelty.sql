-- 1 at first, an e-th after 48 hours, and never below 0.
SELECT age, round(topk_trend_novelty(age), 9) AS novelty FROM values('age UInt64', 0, 3600, 172800, 604800, 1e18)
