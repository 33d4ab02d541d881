-- Enter of item types whose slices have not been written in some partitions how many views they have: no slice of theirs has more.
-- Parameters: types: Array(String), those that were written; the partitions as a cover: total (0 = none), days, less (none), hours and their
-- versions.
INSERT INTO topk.slice_heads (slice, dimensions, part, bucket, version, item_type, floor)
SELECT '', 0, part, bucket, version, item_type, sum(views)
FROM topk.exact_cover(total = {total:UInt64},
    days = {days:Array(DateTime('UTC'))}, day_versions = {day_versions:Array(UInt64)},
    less = {less:Array(DateTime('UTC'))}, less_versions = {less_versions:Array(UInt64)},
    hours = {hours:Array(DateTime('UTC'))}, hour_versions = {hour_versions:Array(UInt64)})
WHERE item_type NOT IN {types:Array(String)}
GROUP BY part, bucket, version, item_type
