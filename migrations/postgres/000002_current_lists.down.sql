DROP TABLE current_lists;
