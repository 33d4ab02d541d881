-- 1,000,000 identities and no two alike: a collision would be expected once in 36 million such sets.
SELECT uniqExact(topk_event_identity(concat('v_', toString(number % 1000)), toDateTime64(number % 7200, 3, 'UTC'), toString(number))) AS identities
FROM numbers(1000000)
