DROP FUNCTION IF EXISTS topk_clean_events
