-- e / 1e-5, rounded up, whatever the slice.
SELECT slice, topk_cms_width(slice) AS width, toTypeName(width) AS type, width = ceil(exp(1) / 1e-5) AS as_derived
FROM values('slice String', ('global'), (''), ('country=IN'), ('category=📺'))
