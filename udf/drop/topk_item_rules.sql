DROP FUNCTION IF EXISTS topk_item_rules
