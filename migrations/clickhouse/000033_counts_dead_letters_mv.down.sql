DROP VIEW topk.counts_dead_letters_mv SYNC
