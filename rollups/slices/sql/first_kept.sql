-- What is the first hour of which anything is kept, as it landed or raw?
-- Parameters: none. Rows: one, of the first second that landed and of the first hour of raw events, 1970 where there is nothing.
SELECT (SELECT min(second) FROM topk.landed) AS landed,
       (SELECT min(toDateTime(partition, 'UTC')) FROM system.parts WHERE database = 'topk' AND table = 'events' AND active AND rows > 0) AS raw
