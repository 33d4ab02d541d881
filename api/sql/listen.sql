-- A publish notifies with {"item_type", "window", "slice", "version"} when its transaction commits.
LISTEN topk_lists
