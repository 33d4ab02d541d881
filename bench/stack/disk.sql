-- What each table of topk keeps, without parts that merges have replaced: its name, bytes on disk, bytes of primary keys in memory, rows. Tables
-- of nothing do not appear.
SELECT
    table,
    sum(bytes_on_disk),
    sum(primary_key_bytes_in_memory_allocated),
    sum(rows)
FROM system.parts
WHERE database = 'topk' AND active
GROUP BY table
FORMAT TabSeparated
