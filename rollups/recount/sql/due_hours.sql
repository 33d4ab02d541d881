-- Which hours before `closed` have events that no recount has seen? An insert into events takes the next block number of the
-- table, and merges keep the greatest, so an hour's greatest number grows exactly when something arrives for it.
-- Parameters: closed (DateTime). Rows: hour, its version that counts (0 = none yet), the block up to which that has its events, the greatest block, rows of events, whether some of
-- those that were counted are gone: then there are fewer rows than that, since repeats and flagged events only add to them. A version
-- that says itself that it was made of fewer rows proves nothing.
SELECT arrived.hour AS hour, counted.version AS version, counted.events_block AS counted_block, arrived.block AS block, arrived.kept,
       arrived.kept < counted.distinct_events AND counted.events >= counted.distinct_events
FROM
(
    SELECT toDateTime(partition, 'UTC') AS hour, max(max_block_number) AS block, sum(p.rows) AS kept
    FROM system.parts AS p
    WHERE database = 'topk' AND table = 'events' AND active AND p.rows > 0
    GROUP BY hour
) AS arrived
LEFT JOIN topk.hour_versions AS counted USING (hour)
WHERE hour < {closed:DateTime('UTC')} AND (version = 0 OR block > counted.events_block)
ORDER BY hour
