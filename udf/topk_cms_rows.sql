-- topk_cms_rows() -> Array(UInt8): the rows of a sketch, 0 to depth - 1.
-- Example: SELECT topk_cms_rows()
-- Error: with depth 5, an estimate breaks its bound with probability e^-5 < 1 %.
-- Source: Cormode, Muthukrishnan, "An Improved Data Stream Summary: The Count-Min Sketch" (2005):
-- depth = ceil(ln(1 / delta)).
CREATE OR REPLACE FUNCTION topk_cms_rows AS () -> [0, 1, 2, 3, 4]
