DROP FUNCTION IF EXISTS topk_slice_name
