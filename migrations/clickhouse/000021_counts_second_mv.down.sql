DROP VIEW topk.counts_second_mv SYNC
