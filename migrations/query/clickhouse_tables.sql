-- How much is left in the database.
SELECT count() FROM system.tables WHERE database = 'topk'
