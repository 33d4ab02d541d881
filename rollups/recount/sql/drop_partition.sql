-- Drop one partition whole.
-- Parameters: table, partition.
ALTER TABLE topk.{table:Identifier} DROP PARTITION ID {partition:String}
