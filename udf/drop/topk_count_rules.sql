DROP FUNCTION IF EXISTS topk_count_rules
