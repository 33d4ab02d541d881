-- The least watermark over the partitions of both topics, in epoch milliseconds: how far ClickHouse has read.
SELECT toUnixTimestamp64Milli(min(newest))
FROM
(
    SELECT
        topic,
        partition,
        max(watermark) AS newest
    FROM topk.ingest_progress
    WHERE inserted_at > now64(3) - INTERVAL 10 MINUTE
    GROUP BY topic, partition
)
FORMAT TabSeparated
