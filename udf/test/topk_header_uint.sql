-- The named header as a number; 0 for whatever is no number, the first one where a name is repeated.
SELECT names, vals, topk_header_uint(names, vals, 'watermark') AS number
FROM values('names Array(String), vals Array(String)',
    (['watermark'], ['1764547200000']), (['partitions', 'watermark', 'closed'], ['12', '7', '1']), ([], []),
    (['partitions'], ['12']), (['watermark'], ['']), (['watermark'], ['-1']), (['watermark'], ['1.5']),
    (['watermark'], ['1e3']), (['watermark'], [' 1']), (['watermark'], ['NaN']), (['watermark'], ['½']),
    (['watermark'], ['18446744073709551615']), (['watermark'], ['99999999999999999999']),
    (['Watermark'], ['5']), (['watermark', 'watermark'], ['1', '2']), (['watermark'], ['\0']))
