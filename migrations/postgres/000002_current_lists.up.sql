-- Which version of each list is served. Written by the rollup worker: a publish moves the pointer in the
-- transaction that inserts the version, with NOTIFY topk_lists. Never moves back in as_of, except by a rollback. Removed, with a
-- notification of version 0, a day of event time after the last list of an item type that is viewed no more.
-- Read by the API, all of it at once. The key is what names a list: it has one pointer.
CREATE TABLE current_lists (
    item_type   text   NOT NULL,
    window_name text   NOT NULL,
    slice       text   NOT NULL,
    version     bigint NOT NULL REFERENCES lists (version),
    PRIMARY KEY (item_type, window_name, slice)
);
COMMENT ON TABLE current_lists IS 'pointers to the served version of each list';
COMMENT ON COLUMN current_lists.item_type IS 'video, hashtag, ...';
COMMENT ON COLUMN current_lists.window_name IS '1m, 5m, 1h, ...';
COMMENT ON COLUMN current_lists.slice IS 'global, country=IN, ...';
COMMENT ON COLUMN current_lists.version IS 'the version that is served';
-- A version in use must not be removed: the foreign key asks for this index at every delete.
CREATE INDEX current_lists_by_version ON current_lists (version);
