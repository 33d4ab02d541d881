-- topk_cms_width(slice String) -> UInt32: cells in a row of that slice's sketch.
-- Example: SELECT topk_cms_width('global')
-- Error: an estimate exceeds the truth by at most (e / width) x N, here 1e-5 x N, unless all rows are unlucky.
-- Source: Cormode, Muthukrishnan, "An Improved Data Stream Summary: The Count-Min Sketch" (2005):
-- width = ceil(e / epsilon).
CREATE OR REPLACE FUNCTION topk_cms_width AS (slice) -> toUInt32(271829)
