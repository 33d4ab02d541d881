-- Last step of a whole `down`, run only when nothing is left in the database.
DROP DATABASE IF EXISTS topk SYNC
