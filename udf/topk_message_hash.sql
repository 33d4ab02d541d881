-- topk_message_hash(ingestor String, sequence UInt64) -> UInt64: a number that stands for one message of counts.
-- sum(n * topk_message_hash(ingestor, sequence)), which wraps, tells whether two tables hold the same views of the same
-- messages: equal totals alone may be one message twice in place of two.
-- Example: SELECT topk_message_hash('a@1', 7)
-- Error: two different sets of messages give one sum with probability about 2^-64.
-- Source: a linear fingerprint of a multiset (Carter, Wegman 1979), with ClickHouse's hash functions as the random numbers.
CREATE OR REPLACE FUNCTION topk_message_hash AS (ingestor, sequence) ->
    intHash64(bitXor(sequence, cityHash64(ingestor)))
