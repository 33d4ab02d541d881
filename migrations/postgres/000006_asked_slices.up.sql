-- Lists of slices that callers ask for again and again although none is published: they are made from then on. Written by the API once a
-- list has been asked for twice within ten minutes, and again while it is asked for. Read by the rollup worker, which removes it when
-- nobody has asked for ten minutes.
-- Grain: one row a list. Kept while it is asked for. The API enters none without views.
-- Ordered by what names a list, as it is written. There are few rows, so nothing else is indexed.
CREATE TABLE asked_slices (
    item_type   text        NOT NULL,
    window_name text        NOT NULL,
    slice       text        NOT NULL,
    asked_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (item_type, window_name, slice)
);
COMMENT ON TABLE asked_slices IS 'lists of slices that are made because they are asked for';
COMMENT ON COLUMN asked_slices.item_type IS 'video, hashtag, ...';
COMMENT ON COLUMN asked_slices.window_name IS '1m, 5m, 1h, ...';
COMMENT ON COLUMN asked_slices.slice IS 'country=DE|FR|IT, category=music, ...';
COMMENT ON COLUMN asked_slices.asked_at IS 'wall clock of the newest request, to some minutes';
