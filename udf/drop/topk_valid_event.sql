DROP FUNCTION IF EXISTS topk_valid_event
