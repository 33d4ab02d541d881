-- How many events came for some hours after those that are counted? Repeats and flagged ones are among them.
-- Parameters: hours, and the block of each up to which they are counted. Rows: hour, item_type, events.
SELECT _partition_value.1 AS hour, item_type, count() AS n
FROM topk.events
WHERE _partition_value.1 IN {hours:Array(DateTime('UTC'))}
  AND _block_number > {blocks:Array(Int64)}[indexOf({hours:Array(DateTime('UTC'))}, _partition_value.1)]
GROUP BY hour, item_type
