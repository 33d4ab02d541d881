-- Every cell is inside its row, equal bytes meet in one cell, rows disagree, and odd ids are ids like any other.
SELECT item_id, arrayMap(r -> topk_cms_cell(r, item_id, toUInt32(271829)), topk_cms_rows()) AS cells,
       arrayAll(c -> c < 271829, cells) AS inside, length(arrayDistinct(cells)) AS distinct_cells,
       topk_cms_cell(0, item_id, toUInt32(1)) AS only_cell, toTypeName(topk_cms_cell(0, item_id, toUInt32(7))) AS type
FROM values('item_id String', (''), ('a'), ('A'), ('v_9HJw3SB'), ('é'), (unhex('65CC81')), ('🎬'), ('مرحبا'), ('-1'), ('a/b%2F..'),
            (repeat('x', 256)))
