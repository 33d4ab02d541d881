-- Enter the hours before `closed` in which nothing happened, from the first day that anything is known of, so that the ledger
-- has no gaps and days are complete. One that an event arrives for after all is due like any other.
-- Parameters: closed (DateTime).
INSERT INTO topk.recounts (hour, version, events, distinct_events, items, why)
WITH
    (
        SELECT groupArray(hour) FROM
        (
            SELECT hour FROM topk.recounts
            UNION ALL
            SELECT toDateTime(partition, 'UTC') FROM system.parts WHERE database = 'topk' AND table = 'events' AND active AND rows > 0
        )
    ) AS known,
    if(empty(known), {closed:DateTime('UTC')}, toStartOfDay(arrayMin(known))) AS first
SELECT toDateTime(first + 3600 * number, 'UTC') AS empty, toUnixTimestamp64Micro(now64(6)), 0, 0, 0, 'empty'
FROM numbers(toUInt64(greatest(0, dateDiff('hour', first, {closed:DateTime('UTC')}))))
WHERE empty NOT IN (SELECT hour FROM topk.recounts)
  AND empty NOT IN (SELECT toDateTime(partition, 'UTC') FROM system.parts WHERE database = 'topk' AND table = 'events' AND active AND rows > 0)
