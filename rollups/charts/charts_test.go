package charts

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"topk/internal/enginetest"
	"topk/rollups/recount"
)

var monday = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

const (
	utc     = "UTC"
	kolkata = "Asia/Kolkata"
)

// A chart is provisional while its day is open or an hour of it not recounted, then final, then revised when an hour is
// recounted to another result. Charts that it does not touch stay as they are, and a maker that starts anew repeats nothing.
func testLifecycle(t *testing.T, e *engines) {
	random := rand.New(rand.NewPCG(3, 4))
	tuesday := monday.AddDate(0, 0, 1)
	for _, hour := range []int{0, 4, 11, 12, 18, 23, 24} {
		from := monday.Add(time.Duration(hour) * time.Hour)
		e.send(t, stream(random, "video", 500, from, from.Add(time.Hour))...)
		e.send(t, stream(random, "sound", 50, from, from.Add(time.Minute))...)
	}
	m := e.maker(utc, kolkata)
	m.config.Every = 15 * time.Minute
	check := func(zoneName, day string, asOf time.Time) {
		t.Helper()
		got := e.chart(t, "video", zoneName, day)
		same(t, e.truth("video", load(t, zoneName), day, asOf, 3), got)
		require.Equal(t, asOf, got.AsOf)
	}

	noon := monday.Add(12 * time.Hour)
	e.recount(t, noon)
	require.Equal(t, 2, e.round(t, m, noon), "Monday in two zones")
	check(utc, "2026-03-02", noon)
	check(kolkata, "2026-03-02", noon)
	require.Zero(t, e.round(t, m, noon.Add(10*time.Minute)), "not yet")
	require.Equal(t, 2, e.round(t, m, noon.Add(15*time.Minute)))
	check(utc, "2026-03-02", noon.Add(15*time.Minute))
	require.Equal(t, []string{"sound 2 provisional", "video 2 provisional"}, e.revisions(t, utc, "2026-03-02"), "one goes when the next comes")

	over := tuesday.Add(9 * time.Minute)
	e.recount(t, over)
	require.Equal(t, 4, e.round(t, m, over), "Monday and Tuesday in two zones")
	check(utc, "2026-03-02", tuesday)
	require.True(t, e.chart(t, "video", utc, "2026-03-02").Provisional, "its last hour is not recounted")
	require.False(t, e.chart(t, "video", kolkata, "2026-03-02").Provisional)
	e.recount(t, tuesday.Add(10*time.Minute))
	require.Equal(t, 1, e.round(t, m, tuesday.Add(10*time.Minute)), "Monday is final")
	require.Equal(t, []string{"sound 4", "video 4"}, e.revisions(t, utc, "2026-03-02"))
	final := e.chart(t, "video", utc, "2026-03-02")
	require.False(t, final.Provisional || final.Revised)
	check(utc, "2026-03-02", tuesday)

	again := e.maker(utc, kolkata)
	again.config.Every = m.config.Every
	require.Zero(t, e.round(t, again, tuesday.Add(10*time.Minute)), "a restart repeats nothing")

	// Late for 20 o'clock, which is Tuesday already in Kolkata.
	again.config.Every = 0
	e.send(t, event{"video", "late", "1", "", monday.Add(20 * time.Hour), false})
	e.round(t, again, tuesday.Add(10*time.Minute))
	require.Equal(t, []string{"sound 4", "video 4"}, e.revisions(t, utc, "2026-03-02"), "it is not recounted yet")
	e.recount(t, tuesday.Add(10*time.Minute))
	kolkatasMonday := e.revisions(t, kolkata, "2026-03-02")
	require.Equal(t, 1, e.round(t, again, tuesday.Add(10*time.Minute)))
	require.Equal(t, []string{"sound 4", "video 4", "video 5"}, e.revisions(t, utc, "2026-03-02"), "final ones are kept")
	require.Equal(t, kolkatasMonday, e.revisions(t, kolkata, "2026-03-02"))
	revised := e.chart(t, "video", utc, "2026-03-02")
	require.True(t, revised.Revised)
	require.Equal(t, "recounted: 2026-03-02T20:00:00Z (late)", revised.Reason)
	require.Equal(t, final.Total+1, revised.Total)
	check(utc, "2026-03-02", tuesday)

	// A viewer is found out to be a robot: the count goes down.
	e.send(t, event{"video", "late", "1", "", monday.Add(20 * time.Hour), true})
	e.recount(t, tuesday.Add(10*time.Minute))
	require.Equal(t, 1, e.round(t, e.maker(utc, kolkata), tuesday.Add(10*time.Minute)))
	check(utc, "2026-03-02", tuesday)
	require.Equal(t, final.Total, e.chart(t, "video", utc, "2026-03-02").Total)

	// A recount that comes to the same changes no chart, and is counted once.
	before := e.revisions(t, utc, "2026-03-02")
	_, err := e.recounts.Recount(t.Context(), recount.Range{From: monday.Add(4 * time.Hour), Until: monday.Add(12 * time.Hour)})
	require.NoError(t, err)
	require.Equal(t, 2, e.round(t, again, tuesday.Add(10*time.Minute)))
	require.Zero(t, e.round(t, again, tuesday.Add(10*time.Minute)))
	require.Equal(t, before, e.revisions(t, utc, "2026-03-02"))
}

// Whoever read before somebody else has stored stores nothing, and a failure in between leaves no trace.
func testMadeOnce(t *testing.T, e *engines) {
	e.send(t, event{"video", "a", "1", "", monday, false})
	e.recount(t, monday.AddDate(0, 0, 1).Add(time.Hour))
	m := e.maker(utc)
	p, err := m.plan(t.Context(), e.db, monday.Add(24*time.Hour))
	require.NoError(t, err)
	require.Len(t, p.jobs, 1)
	failing := errors.New("PostgreSQL went away")
	_, err = m.make(t.Context(), func(context.Context, func(context.Context, *pgx.Conn) error) error { return failing }, p.jobs[0])
	require.ErrorIs(t, err, failing)
	e.exec(t, "ALTER TABLE charts ADD CONSTRAINT none CHECK (false)")
	_, err = m.make(t.Context(), e.db, p.jobs[0])
	require.ErrorContains(t, err, "store charts")
	e.exec(t, "ALTER TABLE charts DROP CONSTRAINT none")
	days, err := readDays(t.Context(), e.db, parse(t, "1970-01-01"))
	require.NoError(t, err)
	require.Empty(t, days, "all or nothing")

	_, err = m.make(t.Context(), e.db, p.jobs[0])
	require.NoError(t, err)
	_, err = m.make(t.Context(), e.db, p.jobs[0])
	require.ErrorIs(t, err, errOvertaken)
	require.Equal(t, []string{"video 1"}, e.revisions(t, utc, "2026-03-02"))
}

// The command makes a day in a zone that nobody configured; the worker makes it final and revises it.
func testByHand(t *testing.T, e *engines) {
	const katmandu, day = "Asia/Kathmandu", "2026-03-03"
	topk := func(arguments ...string) (string, error) {
		arguments = append([]string{"chart", "--clickhouse", e.DSN, "--postgres", e.postgres, "--day", day, "--tz", katmandu}, arguments...)
		output, err := enginetest.Command(t.Context(), arguments...).CombinedOutput()
		return string(output), err
	}
	from, until := parse(t, day).Bounds(load(t, katmandu))
	e.send(t, stream(rand.New(rand.NewPCG(5, 6)), "video", 500, from.Add(-time.Hour), until)...)
	said, err := topk()
	require.Error(t, err)
	require.Contains(t, said, "2026-03-03 in Asia/Kathmandu: it has not begun, as far as events have come")

	asOf := from.Add(6 * time.Hour)
	e.exec(t, `WITH l AS (INSERT INTO lists (item_type, window_name, slice, as_of, body) VALUES ('video', '1m', 'global', $1, '{}') RETURNING version)
		INSERT INTO current_lists SELECT 'video', '1m', 'global', version FROM l`, asOf)
	said, err = topk("--chart-cap", "3")
	require.NoError(t, err, said)
	require.Contains(t, said, "2026-03-03 in Asia/Kathmandu, 2026-03-02T18:15:00Z to 2026-03-03T18:15:00Z: provisional, as of 2026-03-03T00:15:00Z\nvideo: revision 1, ")
	same(t, e.truth("video", load(t, katmandu), day, asOf, 3), e.chart(t, "video", katmandu, day))

	e.recount(t, until.Add(time.Hour))
	m := e.maker()
	require.Equal(t, 1, e.round(t, m, until.Add(time.Hour)), "the worker goes on")
	got := e.chart(t, "video", katmandu, day)
	require.False(t, got.Provisional)
	same(t, e.truth("video", load(t, katmandu), day, until, 3), got)
	said, err = topk()
	require.NoError(t, err, said)
	require.Contains(t, said, ": final\nnothing has changed\n")

	e.send(t, event{"video", "late", "1", "", from, false})
	e.recount(t, until.Add(time.Hour))
	require.Equal(t, 1, e.round(t, m, until.Add(time.Hour)))
	require.Equal(t, []string{"video 2", "video 3"}, e.revisions(t, katmandu, day))

	for _, wrong := range [][]string{{"--day", "2026-13-01"}, {"--tz", "Asia/Katmandou"}, {"--tz", "Pacific/Apia", "--day", "2011-12-30"}, {"--chart-cap", "-1"}} {
		said, err = topk(wrong...)
		require.Error(t, err, said)
		require.Contains(t, said, "topk: ")
	}
}

// A day whose events were dropped in part cannot be counted, and what was made of it stays. Events are needed until their day is
// final, in every configured zone.
func testNeedEvents(t *testing.T, e *engines) {
	asOf := monday.AddDate(0, 0, 2).Add(time.Hour)
	for _, hour := range []int{0, 5, 6, 30, 48} {
		e.send(t, event{"video", "a", fmt.Sprint(hour), "", monday.Add(time.Duration(hour) * time.Hour), false})
	}
	e.recount(t, asOf)
	m := e.maker(utc, kolkata)
	report, err := m.Round(t.Context(), e.db, asOf)
	require.NoError(t, err)
	require.Equal(t, monday.Add(-5*time.Hour-30*time.Minute), report.Needed, "Kolkata's Monday was to be made")
	report, err = m.Round(t.Context(), e.db, asOf)
	require.NoError(t, err)
	require.Equal(t, monday.AddDate(0, 0, 2).Add(-5*time.Hour-30*time.Minute), report.Needed, "Kolkata's Wednesday is open")

	before := e.revisions(t, utc, "2026-03-02")
	e.Query(t, "ALTER TABLE topk.events DROP PARTITION '2026-03-02 05:00:00'")
	e.Query(t, "INSERT INTO topk.recounts (hour, version, events, distinct_events, items, why) SELECT hour, version + 1, 1, 1, 1, 'by hand' FROM topk.hour_versions WHERE hour <= '2026-03-02 06:00:00'")
	require.Equal(t, 0, e.round(t, m, asOf))
	require.Equal(t, before, e.revisions(t, utc, "2026-03-02"))
	_, err = m.Make(t.Context(), e.db, "Asia/Tokyo", parse(t, "2026-03-02"))
	require.ErrorIs(t, err, ErrNoEvents)
	_, err = m.Make(t.Context(), e.db, utc, parse(t, "2026-03-02"))
	require.ErrorIs(t, err, ErrNoEvents)
	e.exec(t, "TRUNCATE charts, chart_days")
	report, err = m.Round(t.Context(), e.db, asOf)
	require.NoError(t, err)
	require.Equal(t, monday.Add(18*time.Hour+30*time.Minute), report.Needed, "Monday is lost, and holds nothing back")
}

// The events of an hour were dropped, and a late one came for it: the day is not counted from that alone.
func testLateEventsOfGoneHour(t *testing.T, e *engines) {
	asOf := monday.AddDate(0, 0, 1).Add(2 * time.Hour)
	e.send(t, event{"video", "a", "1", "", monday.Add(5 * time.Hour), false}, event{"video", "a", "2", "", monday.Add(5 * time.Hour), false},
		event{"video", "a", "3", "", monday.Add(7 * time.Hour), false}, event{"video", "a", "4", "", monday.Add(25 * time.Hour), false})
	e.recount(t, asOf)
	m := e.maker(utc)
	e.round(t, m, asOf)
	before := e.revisions(t, utc, "2026-03-02")
	e.Query(t, "ALTER TABLE topk.events DROP PARTITION '2026-03-02 05:00:00'")
	e.send(t, event{"video", "a", "late", "", monday.Add(5 * time.Hour), false}, event{"video", "a", "late", "", monday.Add(7 * time.Hour), false})
	e.recount(t, asOf)
	e.round(t, m, asOf)
	require.Equal(t, before, e.revisions(t, utc, "2026-03-02"))
	_, err := m.Make(t.Context(), e.db, utc, parse(t, "2026-03-02"))
	require.ErrorIs(t, err, ErrNoEvents)
}

// A zone that is configured later gets every day that events are kept of, quiet ones too.
func testBacklog(t *testing.T, e *engines) {
	asOf := monday.AddDate(0, 0, 200)
	e.send(t, event{"video", "a", "1", "", monday.Add(time.Hour), false}, event{"video", "a", "2", "", asOf.Add(-30 * time.Hour), false})
	e.recount(t, asOf)
	require.Equal(t, 200, e.round(t, e.maker(utc), asOf))
	days, err := readDays(t.Context(), e.db, parse(t, "1970-01-01"))
	require.NoError(t, err)
	require.Len(t, days, 200)
	require.Equal(t, []string{"video 1"}, e.revisions(t, utc, "2026-03-02"))
	require.Empty(t, e.revisions(t, utc, "2026-03-03"))
	require.Zero(t, e.round(t, e.maker(utc), asOf.Add(-time.Hour)))
	require.Zero(t, e.round(t, e.maker(), asOf), "none is configured")
	for day, types := range map[string]int{"2026-03-02": 1, "2026-03-03": 0} {
		result, err := e.maker(utc).Make(t.Context(), e.db, utc, parse(t, day))
		require.NoError(t, err)
		require.Empty(t, result.Charts, "nothing has changed")
		require.Equal(t, types, result.Types, "and without views there is nothing to change")
	}
}
