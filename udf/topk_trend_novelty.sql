-- topk_trend_novelty(age seconds) -> Float64: 1 for an item that is first seen now, and less by a factor of e with every 48 hours.
-- Example: SELECT topk_trend_novelty(3600)
-- Error: none.
-- Source: internal/list, whose formulas a test compares.
CREATE OR REPLACE FUNCTION topk_trend_novelty AS age -> exp(-age / 172800)
