-- Ingestor and sequence both count, whatever the type of the text. One message twice is not two messages of equal views.
SELECT topk_message_hash('a@1', toUInt64(7)) AS hash, toTypeName(hash) AS type,
       hash = topk_message_hash(toLowCardinality('a@1'), toUInt64(7)) AS low_cardinality,
       hash = topk_message_hash('a@2', toUInt64(7)) AS other_ingestor,
       hash = topk_message_hash('a@1', toUInt64(8)) AS other_sequence,
       5 * hash + 5 * hash = 5 * hash + 5 * topk_message_hash('a@1', toUInt64(8)) AS twice_is_two,
       topk_message_hash('', toUInt64(0)) AS empties
