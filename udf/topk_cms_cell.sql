-- topk_cms_cell(row UInt8, item_id String, width UInt32) -> UInt32: the cell of an item in one row of a sketch.
-- Example: SELECT topk_cms_cell(0, 'a', 271829)
-- Error: none; width must be greater than 0.
-- Source: Cormode, Muthukrishnan, "An Improved Data Stream Summary: The Count-Min Sketch" (2005). One keyed
-- SipHash per row stands for the pairwise independent hash functions.
CREATE OR REPLACE FUNCTION topk_cms_cell AS (cms_row, item_id, width) ->
    sipHash64Keyed((toUInt64(cms_row), toUInt64(0x746f706b)), item_id) % width
