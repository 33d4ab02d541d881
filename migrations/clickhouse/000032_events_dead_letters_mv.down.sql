DROP VIEW topk.events_dead_letters_mv SYNC
