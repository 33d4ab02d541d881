DROP FUNCTION IF EXISTS topk_event_rules
