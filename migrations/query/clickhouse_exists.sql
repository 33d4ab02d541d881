-- Whether a table or view exists: what a step that was cut off has left.
SELECT count() FROM system.tables WHERE database = 'topk' AND name = ?
