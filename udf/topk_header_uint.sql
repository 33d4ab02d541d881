-- topk_header_uint(names Array(String), values Array(String), name String) -> UInt64: a Kafka header as a number.
-- Example: SELECT topk_header_uint(['watermark'], ['1764547200000'], 'watermark')
-- Error: 0 when the header is absent, is no decimal number, or does not fit.
-- Source: headers and their meaning are those of internal/wire.
CREATE OR REPLACE FUNCTION topk_header_uint AS (names, vals, wanted) ->
    toUInt64OrZero(vals[indexOf(names, wanted)])
