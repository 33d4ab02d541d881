DROP FUNCTION IF EXISTS topk_message_hash
