-- How many views landed in [from, until), piece by piece, each message once?
-- Parameters: types: Array(String); from, until (DateTime); grain: seconds of a piece. Rows: item_type, start of the piece,
-- views of the part of it that is inside.
SELECT item_type, toDateTime(intDiv(toUnixTimestamp(second), {grain:UInt32}) * {grain:UInt32}, 'UTC') AS piece, sum(n) AS views
FROM topk.landed FINAL
WHERE item_type IN {types:Array(String)} AND second >= {from:DateTime('UTC')} AND second < {until:DateTime('UTC')}
GROUP BY item_type, piece
