-- Merge a partition into one part, repeated rows into one.
-- Parameters: table, partition.
OPTIMIZE TABLE topk.{table:Identifier} PARTITION ID {partition:String} FINAL
