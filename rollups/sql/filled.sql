-- How many views hold the sketches of each bucket of [from, until) that has been filled whole? This is what the seals say.
-- Parameters: table: of sketches; slice; from, until (DateTime). Rows: bucket, views of all item types.
SELECT bucket, max(n) AS views
FROM topk.{table:Identifier}
WHERE item_type = '' AND row = 255 AND slice = {slice:String}
  AND bucket >= {from:DateTime('UTC')} AND bucket < {until:DateTime('UTC')}
GROUP BY bucket
