-- What counts_in holds that is at fault, on its way to counts_dead_letters_mv. Saying what is wrong takes long expressions, and a
-- view costs its planning for every block that has rows for it: behind this Null table that is only when something is wrong.
-- Grain: as in counts_in.
CREATE TABLE topk.counts_faults AS topk.counts_in ENGINE = Null
COMMENT 'rows and messages at fault on their way to dead_letters'
