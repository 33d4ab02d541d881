-- How good published lists were: what was measured once their time had been counted exactly, or why nothing could be. Written by
-- the rollup worker, read by the API, by the worker to know what it has graded, and by people.
-- Grain: a row a list (item type, window, end) and version of the exact counts. A time that was recounted has several, the newest counts.
-- Kept 400 days of event time, then removed in small batches.
-- The primary key is the order of grading: the API asks for what is newer than it has. The unique key makes grading idempotent, and
-- starts with what the worker asks: which ends of a window have been graded.
CREATE TABLE grades (
    grade         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    item_type     text        NOT NULL,
    window_name   text        NOT NULL,
    from_time     timestamptz NOT NULL,
    until_time    timestamptz NOT NULL,
    graded_at     timestamptz NOT NULL DEFAULT now(),
    exact_version bigint      NOT NULL,
    list_version  bigint,
    reason        text,
    method        text,
    certified     boolean,
    items         integer,
    exact_items   bigint,
    recall_100    double precision,
    recall_1000   double precision,
    shared_100    double precision,
    overcount     bigint,
    max_overcount bigint,
    displacement  bigint,
    CONSTRAINT grades_once UNIQUE (window_name, until_time, item_type, exact_version),
    CONSTRAINT grades_measured_or_reason CHECK (
        num_nulls(method, certified, items, exact_items, recall_100, recall_1000, shared_100, overcount, max_overcount, displacement)
        = CASE WHEN reason IS NULL THEN 0 ELSE 10 END
    )
);
COMMENT ON TABLE grades IS 'published lists compared with the exact counts of the same time';
COMMENT ON COLUMN grades.grade IS 'greater is newer';
COMMENT ON COLUMN grades.item_type IS 'video, hashtag, ...';
COMMENT ON COLUMN grades.window_name IS '1h, 24h';
COMMENT ON COLUMN grades.from_time IS 'the list counted events from here';
COMMENT ON COLUMN grades.until_time IS 'to here: its as_of, the end of an hour, or midnight UTC';
COMMENT ON COLUMN grades.graded_at IS 'wall clock';
COMMENT ON COLUMN grades.exact_version IS 'sum of the versions of the hours in the ledger recounts';
COMMENT ON COLUMN grades.list_version IS 'the list, null when there was none';
COMMENT ON COLUMN grades.reason IS 'why nothing was measured, null when it was';
COMMENT ON COLUMN grades.method IS 'of the list: exact, verified, estimated';
COMMENT ON COLUMN grades.certified IS 'whether the list said that nothing else belongs in it';
COMMENT ON COLUMN grades.items IS 'positions of the list';
COMMENT ON COLUMN grades.exact_items IS 'items that have views';
COMMENT ON COLUMN grades.recall_100 IS 'share of the exact top 100 that the first 100 positions hold';
COMMENT ON COLUMN grades.recall_1000 IS 'the same of 1,000';
COMMENT ON COLUMN grades.shared_100 IS 'share of the first 100 positions that is in the exact top 100';
COMMENT ON COLUMN grades.overcount IS 'by how much a count exceeded the exact one, the most of any position';
COMMENT ON COLUMN grades.max_overcount IS 'what the list promised';
COMMENT ON COLUMN grades.displacement IS 'how far one of the first 100 positions was from where it belongs, the most of any';
