-- topk_header_uint(names Array(String), values Array(String), name String) -> UInt64: a Kafka header as a number, 0 when absent or no number.
-- Example: SELECT topk_header_uint(['watermark'], ['1764547200000'], 'watermark')
CREATE OR REPLACE FUNCTION topk_header_uint AS (names, vals, wanted) ->
    toUInt64OrZero(vals[indexOf(names, wanted)])
