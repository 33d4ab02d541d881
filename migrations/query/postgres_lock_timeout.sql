-- Bounds how long this session waits for a lock, in milliseconds.
SELECT set_config('lock_timeout', $1, false)
