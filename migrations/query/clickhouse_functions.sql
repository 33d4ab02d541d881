-- SQL functions that exist, with their text.
SELECT name, create_query FROM system.functions WHERE origin = 'SQLUserDefined' AND startsWith(name, 'topk_')
