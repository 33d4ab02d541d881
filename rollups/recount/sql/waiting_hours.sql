-- For which hours of the ledger did events come that no recount has seen? An insert takes the next block number of the table, and merges
-- keep the greatest.
-- Rows: hour, the block up to which its events are counted.
SELECT arrived.hour AS hour, counted.events_block AS counted_block
FROM
(
    SELECT toDateTime(partition, 'UTC') AS hour, max(max_block_number) AS block
    FROM system.parts
    WHERE database = 'topk' AND table = 'events' AND active AND rows > 0
    GROUP BY hour
) AS arrived
INNER JOIN topk.hour_versions AS counted USING (hour)
WHERE block > counted.events_block
ORDER BY hour
