-- NULL in, NULL out; a LowCardinality or constant id gives the cell of its bytes.
SELECT topk_cms_cell(0, CAST(NULL AS Nullable(String)), toUInt32(271829)) AS of_null,
       topk_cms_cell(0, toLowCardinality('a'), toUInt32(271829)) = topk_cms_cell(0, 'a', toUInt32(271829)) AS low_cardinality,
       topk_cms_cell(0, materialize('a'), toUInt32(271829)) = topk_cms_cell(0, 'a', toUInt32(271829)) AS materialized
