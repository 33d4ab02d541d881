-- Which days have been charted in which time zones, and from what. Written by the rollup worker and by topk chart, in the
-- transaction that stores the charts, read by them to know what is due, and by the API, all of it when anything has changed.
-- Grain: one row a (zone, day), also when nothing was viewed on it. Kept for ever: some 700 bytes a day.
-- The key is what names a day; nothing else is asked for.
CREATE TABLE chart_days (
    zone        text          NOT NULL,
    day         date          NOT NULL,
    round       bigint        NOT NULL,
    provisional boolean       NOT NULL,
    as_of       timestamptz   NOT NULL,
    cap         bigint        NOT NULL,
    item_types  text[]        NOT NULL,
    hours       timestamptz[] NOT NULL,
    versions    bigint[]      NOT NULL,
    counted_at  timestamptz   NOT NULL DEFAULT now(),
    PRIMARY KEY (zone, day)
);
COMMENT ON TABLE chart_days IS 'days that have been charted, and from which recounts';
COMMENT ON COLUMN chart_days.zone IS 'of the tz database, such as Asia/Kolkata';
COMMENT ON COLUMN chart_days.day IS 'date in that zone';
COMMENT ON COLUMN chart_days.round IS 'grows by 1 with each count: who writes says which one was read';
COMMENT ON COLUMN chart_days.provisional IS 'the day was not over, or an hour of it not recounted';
COMMENT ON COLUMN chart_days.as_of IS 'event time up to which was counted, at most the end of the day';
COMMENT ON COLUMN chart_days.cap IS 'views counted of a viewer, item and UTC hour at most, 0 is all';
COMMENT ON COLUMN chart_days.item_types IS 'that have a chart of this day, also one that is empty by now';
COMMENT ON COLUMN chart_days.hours IS 'UTC hours that the day overlaps';
COMMENT ON COLUMN chart_days.versions IS 'their versions in the ledger of recounts, 0 where there was none';
COMMENT ON COLUMN chart_days.counted_at IS 'wall clock';
