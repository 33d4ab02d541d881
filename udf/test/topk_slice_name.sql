-- Dimensions stand in their order, and what parts values is escaped. A value that is not known is empty.
SELECT dimensions, category, topk_slice_name(dimensions, 'IN', category, 'hi') AS name
FROM values('dimensions UInt8, category Nullable(String)',
    (0, 'music'), (1, 'music'), (2, 'music'), (4, 'music'), (3, 'music'), (5, 'music'), (7, 'a,b|c%=d'), (2, ''), (2, NULL), (3, 'موسيقى'), (255, '🎵'))
