package charts

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Provisional and revised charts take turns with pauses; first final ones do not.
func testRest(t *testing.T, e *engines) {
	e.send(t, event{"video", "a", "1", "", monday.Add(time.Hour), false}, event{"video", "a", "2", "", monday.Add(25 * time.Hour), false})
	asOf := monday.AddDate(0, 0, 1).Add(3 * time.Hour)
	e.recount(t, asOf)
	m := e.maker(utc, kolkata, "Asia/Tokyo")
	m.share = 1_000_000 // a pause that lasts
	require.Equal(t, 4, e.round(t, m, asOf), "Monday in three zones, and one of the Tuesdays")
	require.Zero(t, e.round(t, m, asOf))
	m.rest = time.Time{}
	require.Equal(t, 1, e.round(t, m, asOf))
}

// A day that fails is put off, and the others are made.
func testFailingDay(t *testing.T, e *engines) {
	e.send(t, event{"video", "a", "1", "", monday.Add(time.Hour), false}, event{"video", "a", "2", "", monday.Add(25 * time.Hour), false})
	e.exec(t, "ALTER TABLE chart_days ADD CONSTRAINT monday CHECK (day <> '2026-03-02')")
	asOf := monday.AddDate(0, 0, 2)
	e.recount(t, asOf.Add(time.Hour))
	m := e.maker(utc)
	report, err := m.Round(t.Context(), e.db, asOf)
	require.ErrorContains(t, err, "chart 2026-03-02 in UTC: note the count")
	require.Equal(t, 2, report.Counted)
	require.Equal(t, monday, report.Needed)
	require.Equal(t, []string{"video 1"}, e.revisions(t, utc, "2026-03-03"))
	require.Zero(t, e.round(t, m, asOf), "it is left alone for a while")
	e.exec(t, "ALTER TABLE chart_days DROP CONSTRAINT monday")
	clear(m.again)
	require.Equal(t, 1, e.round(t, m, asOf))
}

// A zone that only another machine knows is told of, and holds nothing up.
func testUnknownZone(t *testing.T, e *engines) {
	e.send(t, event{"video", "a", "1", "", monday, false})
	e.exec(t, `INSERT INTO chart_days (zone, day, round, provisional, as_of, cap, item_types, hours, versions)
		VALUES ('Mars/Olympus', '2026-03-02', 1, true, '2026-03-02', 0, '{}', '{}', '{}')`)
	report, err := e.maker(utc).Round(t.Context(), e.db, monday.Add(time.Hour))
	require.ErrorContains(t, err, `"Mars/Olympus" is not a time zone`)
	require.Equal(t, 1, report.Counted)
}

// Events that are late for the hours before all that were recounted keep their day provisional until they are.
func TestHoursBeforeTheLedger(t *testing.T) {
	l := &ledger{first: monday, kept: monday.Add(-2 * time.Hour), hours: map[time.Time]hour{monday: {version: 1, viewed: true, rows: 1}}}
	require.True(t, l.span(monday.Add(-5*time.Hour), monday.Add(time.Hour)).recounted, "nothing was there before")
	l.hours[monday.Add(-2*time.Hour)] = hour{rows: 1}
	require.False(t, l.span(monday.Add(-5*time.Hour), monday.Add(time.Hour)).recounted)
	require.False(t, l.span(monday, monday.Add(2*time.Hour)).recounted, "the second hour is open")
	require.False(t, (&ledger{}).span(monday, monday.Add(time.Hour)).recounted, "nothing is")
}

func TestValidateReportsEveryMistake(t *testing.T) {
	require.NoError(t, DefaultConfig().Validate())
	require.NoError(t, Config{}.Validate(), "no charts")
	err := Config{Zones: append(make([]string, maxZones), utc, utc, "Mars/Olympus"), Cap: maxCap + 1, Every: -1}.Validate()
	for _, mistake := range []string{`chart-zones: "Mars/Olympus" is not`, "UTC is given more than once", "chart-zones: 53 are more than 50", "chart-cap: ", "chart-every: "} {
		require.ErrorContains(t, err, mistake)
	}
}

func TestReasonIsBounded(t *testing.T) {
	j := job{stored: stored{round: 1}}
	require.Equal(t, "counted again by hand", j.reason())
	for i := range 8 {
		j.span.hours = append(j.span.hours, monday.Add(time.Duration(i)*time.Hour))
		j.span.versions = append(j.span.versions, uint64(i)) // that of the first is 0, as before
		j.span.why = append(j.span.why, strings.Repeat("é", 100*(i%2)))
	}
	text := j.reason()
	require.True(t, strings.HasPrefix(text, "recounted: 2026-03-02T01:00:00Z ("+strings.Repeat("é", maxWhy)+"...), 2026-03-02T02:00:00Z, "), text)
	require.True(t, strings.HasSuffix(text, ", and 2 more"), text)
}

// The day that is open does not wait for days that are made up for.
func TestOpenDayIsCountedFirst(t *testing.T) {
	jobs := []job{{from: monday.AddDate(0, 0, 1)}, {from: monday}, {from: monday.AddDate(9, 0, 0), provisional: true}}
	slices.SortFunc(jobs, inOrder)
	require.True(t, jobs[0].provisional)
	require.Equal(t, monday, jobs[1].from)
}
