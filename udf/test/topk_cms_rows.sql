-- Five rows, counted from 0.
SELECT topk_cms_rows() AS rows, toTypeName(rows) AS type
