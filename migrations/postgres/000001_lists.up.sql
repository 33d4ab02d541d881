-- Published lists, immutable versions. Written by the rollup worker, read by the API and by people.
-- Grain: one row a publish of (item_type, window, slice). Old versions are removed by the rollup worker in small batches.
-- The primary key is the version: a version is read by number, newer ones have greater numbers.
CREATE TABLE lists (
    version      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    item_type    text        NOT NULL,
    window_name  text        NOT NULL,
    slice        text        NOT NULL,
    as_of        timestamptz NOT NULL,
    published_at timestamptz NOT NULL DEFAULT now(),
    body         jsonb       NOT NULL
);
COMMENT ON TABLE lists IS 'published lists, immutable versions';
COMMENT ON COLUMN lists.version IS 'greater is newer';
COMMENT ON COLUMN lists.item_type IS 'video, hashtag, ...';
COMMENT ON COLUMN lists.window_name IS '1m, 5m, 1h, ...';
COMMENT ON COLUMN lists.slice IS 'global, country=IN, ...';
COMMENT ON COLUMN lists.published_at IS 'wall clock';
COMMENT ON COLUMN lists.as_of IS 'event time up to which the list counts';
COMMENT ON COLUMN lists.body IS 'the list as JSON, without version and published_at';
-- Retention and history both ask for one list in order of time.
CREATE INDEX lists_by_list ON lists (item_type, window_name, slice, version);
