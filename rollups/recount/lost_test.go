package recount

import (
	"fmt"
	"strings"
	"testing"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/stretchr/testify/require"
)

// History that is imported one hour after the other by the statements of the README counts, though the worker works between them. A day
// that is quiet for long enough is sealed, and an hour that comes after that does not pass unnoticed: the README says how to correct
// the day.
func testImportHourByHour(t *testing.T, e *engine) {
	asOf := monday.Add(200*day + 2*time.Hour)
	blocks := statements(t, "README.md")
	require.Len(t, blocks, 5)
	counts, ledger, dayCounts, dayLedger := blocks[0], blocks[1], blocks[3], blocks[4]
	version := uint64(2_000_000_000_000_000)
	ask := func(statement string, parameters ch.Parameters) {
		t.Helper()
		parameters["version"] = fmt.Sprint(version)
		require.NoError(t, e.conn.Exec(ch.Context(t.Context(), ch.WithParameters(parameters)), statement))
	}
	const history = "SELECT 'video', 'old', {from:DateTime('UTC')} AS hour, {version:UInt64}, '', '', '', 100 WHERE hour < {until:DateTime('UTC')}"
	enter := func(hour int) {
		t.Helper()
		version++
		from := monday.Add(time.Duration(hour) * time.Hour)
		p := ch.Parameters{"from": from.Format(time.DateTime), "until": from.Add(time.Hour).Format(time.DateTime)}
		insert, _, _ := strings.Cut(counts, "SELECT")
		ask(insert+history, p)
		ask(ledger, p)
	}
	e.send(t, event{"video", "new", "1", "IN", asOf.Add(-3 * day), false})
	waiting := e.recounter(func(c *Config) { c.SealAfter = 7 * day })
	for hour := 5; hour < 8; hour++ {
		enter(hour)
		rounds(t, waiting, asOf)
	}
	require.Equal(t, []Count{{"old", 300}, {"new", 1}}, e.total(t, "video"))

	r, told, registry := e.observed()
	rounds(t, r, asOf)
	require.NotEqual(t, "0", e.Query(t, "SELECT count() FROM topk.day_versions WHERE sealed"))
	require.Empty(t, told.String())
	enter(8)
	rounds(t, r, asOf)
	rounds(t, r, asOf)
	require.Equal(t, []Count{{"old", 300}, {"new", 1}}, e.total(t, "video"), "its day is sealed")
	require.Equal(t, 1, strings.Count(told.String(), "level=WARN"), "told once: %s", told)
	require.Contains(t, told.String(), "hours=1 days=1 first=2026-03-02 last=2026-03-02")
	require.InDelta(t, 1, gauge(t, registry, "topk_recount_sealed_hours"), 0)
	check, err := Verify(t.Context(), e.conn, budget, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"day 2026-03-02 is sealed, and 1 of its hours were entered after that: they count nowhere, correct the day"}, check.Drifts)

	p := ch.Parameters{"day": monday.Format(time.DateTime)}
	correct := replaceOnce(t, dayCounts, "country, category, language, n\nFROM", "country, category, language, n + 100\nFROM")
	version++
	ask(correct, p)
	ask(correct, p)
	require.Equal(t, []Count{{"old", 300}, {"new", 1}}, e.total(t, "video"), "nothing is entered yet")
	ask(dayLedger, p)
	ask(dayLedger, p)
	for range 2 {
		require.Equal(t, []Count{{"old", 400}, {"new", 1}}, e.total(t, "video"))
		require.Equal(t, []Count{{"old", 400}}, e.exact(t, "video", monday, monday.Add(2*day)))
		rounds(t, r, asOf)
	}
	require.Zero(t, gauge(t, registry, "topk_recount_sealed_hours"))
	require.Equal(t, 1, strings.Count(told.String(), "level=WARN"), told)
	e.sound(t)
}

// A late event finds the others of its hour dropped, or never there as in imported history: the hour keeps its counts, and that is told
// once. By hand it can be counted from what is left.
func testGoneHours(t *testing.T, e *engine) {
	asOf := monday.Add(5 * time.Hour)
	e.send(t, stream(1, "video", 1000, 3, 1)...)
	e.send(t, event{"imported", "a", "1", "IN", asOf.Add(-2 * time.Hour), false}) // in the last closed hour
	r, told, registry := e.observed()
	rounds(t, r, asOf)
	dropped, imported := monday.Add(time.Hour), monday.Add(3*time.Hour)
	e.Query(t, fmt.Sprintf("ALTER TABLE topk.events DROP PARTITION ID '%d'", dropped.Unix()))
	e.Query(t, fmt.Sprintf("INSERT INTO topk.counts_hourly VALUES ('imported', 'a', '%s', 2000000000000000, '', '', '', 50)", imported.Format(time.DateTime)))
	e.Query(t, fmt.Sprintf("INSERT INTO topk.recounts (hour, version, events, distinct_events, items, why) VALUES ('%s', 2000000000000000, 50, 50, 1, 'by hand')", imported.Format(time.DateTime)))
	before, kept := e.total(t, "video"), []Count{{"a", 50}}
	require.Equal(t, kept, e.total(t, "imported"))

	e.insert(t, "topk.events", event{"video", "late", "1", "IN", dropped, false}, event{"imported", "a", "2", "IN", imported, false})
	for range 2 {
		report, err := r.Round(t.Context(), asOf)
		require.NoError(t, err)
		require.Zero(t, report.Hours)
		require.Zero(t, report.Due, "no events are held back for it")
	}
	require.Equal(t, before, e.total(t, "video"))
	require.Equal(t, kept, e.total(t, "imported"))
	require.Equal(t, 2, strings.Count(told.String(), "level=WARN"), told)
	require.InDelta(t, 2, gauge(t, registry, "topk_recount_gone_hours"), 0)
	require.Zero(t, gauge(t, registry, "topk_recount_due_hours"))

	e.send(t, event{"video", "late", "2", "IN", monday, true}, event{"video", "late", "2", "IN", monday.Add(time.Minute), false})
	require.Equal(t, 1, rounds(t, r, asOf).Hours, "an hour that has all its events is counted")

	g := Range{From: monday, Until: monday.Add(4 * time.Hour)}
	report, err := r.Recount(t.Context(), g)
	require.NoError(t, err)
	require.Equal(t, []time.Time{dropped, imported}, report.Kept)
	require.Equal(t, kept, e.total(t, "imported"))
	g.Force = true
	report, err = r.Recount(t.Context(), g)
	require.NoError(t, err)
	require.Empty(t, report.Kept)
	require.Equal(t, []Count{{"a", 2}}, e.total(t, "imported"))
	require.Equal(t, []Count{{"late", 1}}, e.exact(t, "video", dropped, dropped.Add(time.Hour)))
	rounds(t, r, asOf)
	require.Zero(t, gauge(t, registry, "topk_recount_gone_hours"))
	e.sound(t)
}
