DROP FUNCTION IF EXISTS topk_clean_counts
