-- What is there of some hours before they are recounted, and which version is next?
-- The next version is later than every other of the hour, those included that are in no ledger.
-- Parameters: hours: Array(DateTime). Rows: one an hour, in order: hour, next version, greatest block of events (0 = there are
-- none), rows of events, whether some of those that the version that counts was made of are gone, as in due_hours.
SELECT h.hour AS hour, greatest(toUInt64(toUnixTimestamp64Micro(now64(6))), 1 + greatest(entered.newest, found.newest)),
       found.block, found.kept,
       found.kept < entered.counted AND (found.kept = 0 OR entered.read >= entered.counted)
FROM (SELECT arrayJoin({hours:Array(DateTime('UTC'))}) AS hour) AS h
LEFT JOIN
(
    SELECT hour, max(r.version) AS newest, argMax(r.distinct_events, r.version) AS counted, argMax(r.events, r.version) AS read
    FROM topk.recounts AS r
    WHERE hour IN {hours:Array(DateTime('UTC'))}
    GROUP BY hour
) AS entered USING (hour)
LEFT JOIN
(
    SELECT toDateTime(toUInt32OrZero(splitByChar('-', partition_id)[1]), 'UTC') AS hour,
           maxIf(toUInt64OrZero(splitByChar('-', partition_id)[2]), table = 'counts_hourly') AS newest,
           maxIf(max_block_number, table = 'events') AS block, sumIf(p.rows, table = 'events') AS kept
    FROM system.parts AS p
    WHERE database = 'topk' AND table IN ('events', 'counts_hourly') AND active AND p.rows > 0
      AND hour IN {hours:Array(DateTime('UTC'))}
    GROUP BY hour
) AS found USING (hour)
ORDER BY hour
