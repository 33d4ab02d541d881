DROP FUNCTION IF EXISTS topk_header_uint
