-- Fill some rows of the sketch of an hour or a day: the sum of the sketches within, of each cell what was filled last.
-- Of what was filled for a cell the greatest counts: a repeat, or an attempt that ended half way, changes nothing.
-- Parameters: source, target: tables of sketches; slice; from: the bucket, until: its end (DateTime); rows: Array(UInt8).
INSERT INTO topk.{target:Identifier} (item_type, slice, bucket, width, row, cell, n)
SELECT item_type, {slice:String}, {from:DateTime('UTC')}, width, row, cell, sum(s.n)
FROM topk.{source:Identifier} AS s FINAL
WHERE s.slice = {slice:String} AND s.bucket >= {from:DateTime('UTC')} AND s.bucket < {until:DateTime('UTC')}
  AND s.row IN {rows:Array(UInt8)}
GROUP BY item_type, width, row, cell
