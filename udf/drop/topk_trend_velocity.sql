DROP FUNCTION IF EXISTS topk_trend_velocity
