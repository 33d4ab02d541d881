-- Day charts, immutable revisions; the newest one is served. Written by the rollup worker and by topk chart, read by the API one
-- chart at a time, and by people.
-- Grain: one row a revision of (zone, day, item_type), some 60 kB. Final ones are kept for ever; provisional ones are removed when
-- the next one is stored.
-- The key is in the order in which charts are made: all item types of a day at once.
CREATE TABLE charts (
    zone        text        NOT NULL,
    day         date        NOT NULL,
    item_type   text        NOT NULL,
    revision    bigint      NOT NULL,
    provisional boolean     NOT NULL,
    made_at     timestamptz NOT NULL DEFAULT now(),
    body        jsonb       NOT NULL,
    PRIMARY KEY (zone, day, item_type, revision),
    FOREIGN KEY (zone, day) REFERENCES chart_days
);
COMMENT ON TABLE charts IS 'day charts, immutable revisions';
COMMENT ON COLUMN charts.zone IS 'of the tz database, such as Asia/Kolkata';
COMMENT ON COLUMN charts.day IS 'date in that zone';
COMMENT ON COLUMN charts.item_type IS 'video, hashtag, ...';
COMMENT ON COLUMN charts.revision IS 'greater is newer';
COMMENT ON COLUMN charts.provisional IS 'the day was not over, or an hour of it not recounted';
COMMENT ON COLUMN charts.made_at IS 'wall clock';
COMMENT ON COLUMN charts.body IS 'the chart as JSON';
