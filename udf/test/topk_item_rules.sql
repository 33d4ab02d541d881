-- One rule broken after another, by one item of several. Ids are looked at as one text, which makes nothing valid or invalid that
-- is not so by itself: halves of a character stay halves.
SELECT topk_item_rules(['video', 'h'], ['a', '🎬']) AS good, topk_item_rules(['video', 'Video'], ['a', 'b']) AS type,
       topk_item_rules(['video'], ['a', '']) AS empty, topk_item_rules(['video'], ['a', repeat('x', 257)]) AS long,
       topk_item_rules(['video'], [unhex('C3'), unhex('A9')]) AS halves, topk_item_rules(['video'], ['a', 'b\n']) AS control,
       topk_item_rules(['video'], [repeat('x', 256), repeat('y', 256), ',']) AS longest,
       topk_item_rules(emptyArrayString(), emptyArrayString()) AS none
