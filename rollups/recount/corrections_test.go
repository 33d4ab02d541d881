package recount

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/stretchr/testify/require"

	"topk/internal/enginetest"
)

// statements are the SQL blocks of a README, in their order.
func statements(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var found []string
	for _, block := range strings.Split(string(text), "```sql\n")[1:] {
		statement, _, _ := strings.Cut(block, "```")
		found = append(found, statement)
	}
	return found
}

func replaceOnce(t *testing.T, text, old, with string) string {
	t.Helper()
	require.Equal(t, 1, strings.Count(text, old), "%q in %s", old, text)
	return strings.Replace(text, old, with, 1)
}

// What an analyst types from the README replaces an hour: an item that no longer occurs is gone, and the totals follow by
// themselves. The first statement alone changes nothing, and twice nothing more.
func testBackfillAsTheReadmeSays(t *testing.T, e *engine) {
	r := e.recounter()
	blocks := statements(t, "README.md")
	require.Subset(t, statements(t, "../../README.md"), blocks[:2])
	require.Len(t, blocks, 5)
	counts, ledger, look := blocks[0], blocks[1], blocks[2]
	asOf := monday.Add(3*day + 3*time.Hour)
	e.send(t, stream(1, "video", 1000, 3*24+2, 6)...)
	rounds(t, r, asOf)
	hour := monday.Add(30 * time.Hour)
	truth := e.truth("video", monday, asOf)
	require.Equal(t, truth, e.total(t, "video"))

	parameters := ch.Parameters{"from": hour.Format(time.DateTime), "until": hour.Add(time.Hour).Format(time.DateTime)}
	ask := func(statement string, version int) {
		t.Helper()
		parameters["version"] = fmt.Sprint(version)
		require.NoError(t, e.conn.Exec(ch.Context(t.Context(), ch.WithParameters(parameters)), statement))
	}
	const first = 2_000_000_000_000_000
	wrong := replaceOnce(t, counts, "AND empty(flags)", "AND item_id = 'i3'")

	ask(wrong, first)
	rounds(t, r, asOf)
	require.Equal(t, truth, e.total(t, "video"), "nothing is entered yet")
	ask(wrong, first)
	ask(ledger, first)
	ask(ledger, first)
	damaged := e.total(t, "video")
	require.NotEqual(t, truth, damaged)
	of := e.exact(t, "video", hour, hour.Add(time.Hour))
	require.Len(t, of, 1, "the others are gone")
	require.Equal(t, "i3", of[0].ItemID)
	require.Equal(t, fmt.Sprint(of[0].Views), e.Query(t, fmt.Sprintf("SELECT count() FROM topk.events FINAL WHERE item_id = 'i3' AND toStartOfHour(event_time) = '%s'",
		hour.Format(time.DateTime))), "counted once")
	rounds(t, r, asOf)
	require.Equal(t, damaged, e.total(t, "video"), "whether days are added up anew or not")
	e.sound(t)

	ask(counts, first+1)
	ask(counts, first+1)
	require.Equal(t, damaged, e.total(t, "video"))
	ask(ledger, first+1)
	require.Equal(t, truth, e.total(t, "video"))
	rounds(t, r, asOf)
	require.Equal(t, truth, e.total(t, "video"))
	e.sound(t)

	want := e.truth("video", hour, hour.Add(time.Hour))
	require.Eventually(t, func() bool { // the view counts what has been in the ledger for a second
		rows, err := e.conn.Query(ch.Context(context.Background(), ch.WithParameters(parameters)), look)
		require.NoError(t, err)
		var got []Count
		for rows.Next() {
			var c Count
			require.NoError(t, rows.Scan(&c.ItemID, &c.Views))
			got = append(got, c)
		}
		require.NoError(t, rows.Err())
		return fmt.Sprint(got) == fmt.Sprint(want[:min(10, len(want))])
	}, 10*time.Second, 50*time.Millisecond)

	ask("INSERT INTO topk.recounts (hour, version, events, distinct_events, items, why) VALUES ({from:DateTime('UTC')}, {version:UInt64}, 0, 0, 0, 'empty')", first+9)
	require.Empty(t, e.exact(t, "video", hour, hour.Add(time.Hour)))
	e.sound(t)
}

// A wrong count in one old hour is corrected by a recount: every stretch that holds the hour becomes right, and no other hour
// or day gets another version. Events are in two hours of every third day, and in the last day.
func testCorrection(t *testing.T, e *engine) {
	r := e.recounter()
	asOf := monday.Add(34*day + 5*time.Hour)
	end := asOf.Truncate(time.Hour).Add(-time.Hour)
	e.send(t, stream(1, "video", 1000, 34*24+4, 36)...)
	bad := end.Add(-20 * time.Hour)
	for i := range 40 {
		e.send(t, event{"video", fmt.Sprint("i", i%7), fmt.Sprint("bad", i), "IN", bad.Add(time.Duration(i) * time.Minute), false})
	}
	rounds(t, r, asOf)
	stretches := map[string]time.Time{"24h": end.Add(-24 * time.Hour), "7d": end.Add(-7 * day), "30d": end.Add(-30 * day), "all": monday}
	right := map[string][]Count{}
	for name, from := range stretches {
		right[name] = e.truth("video", from, end)
		require.Equal(t, right[name], e.exact(t, "video", from, end), name)
	}
	before, days := e.versions(t, "hour_versions", "hour"), e.versions(t, "day_versions", "day")

	e.Query(t, fmt.Sprintf("INSERT INTO topk.counts_hourly SELECT item_type, item_id, hour, 2000000000000000, country, category, language, n + 1000 FROM topk.counts_hourly WHERE hour = '%s'", bad.Format(time.DateTime)))
	e.Query(t, fmt.Sprintf("INSERT INTO topk.recounts (hour, version, events, distinct_events, items, why) SELECT hour, version, 40, sum(n), 1, 'bug' FROM topk.counts_hourly WHERE hour = '%s' AND version = 2000000000000000 GROUP BY ALL", bad.Format(time.DateTime)))
	for name, from := range stretches {
		require.NotEqual(t, right[name], e.exact(t, "video", from, end), "%s holds the bug at once", name)
	}
	rounds(t, r, asOf)
	e.sound(t)

	report, err := r.Recount(t.Context(), Range{From: bad, Until: bad.Add(time.Hour)})
	require.NoError(t, err)
	require.Equal(t, RangeReport{Hours: 1, Done: 1, Next: bad.Add(time.Hour)}, report)
	for name, from := range stretches {
		require.Equal(t, right[name], e.exact(t, "video", from, end), name)
	}
	rounds(t, r, asOf)
	require.Equal(t, []string{bad.Format(time.DateTime)}, differing(before, e.versions(t, "hour_versions", "hour")))
	require.Equal(t, []string{bad.Truncate(day).Format(time.DateTime)}, differing(days, e.versions(t, "day_versions", "day")))
	require.Equal(t, e.truth("video", monday, asOf), e.total(t, "video"))
	e.sound(t)
}

// Interrupted, a recount by hand says where to go on; killed, it leaves out what the ledger says was done.
func testByHand(t *testing.T, e *engine) {
	const hours = 8
	asOf := monday.Add(10 * time.Hour)
	until := monday.Add(hours * time.Hour)
	e.send(t, stream(1, "video", 500, hours, 1)...)
	rounds(t, e.recounter(), asOf)
	oneByOne := func() *Recounter { return e.recounter(func(c *Config) { c.BatchEvents = 1 }) }
	ctx, cancel := context.WithCancel(t.Context())
	g := Range{From: monday, Until: until, Progress: func(done, all int) {
		require.Equal(t, hours, all)
		if done == 3 {
			cancel()
		}
	}}
	report, err := oneByOne().Recount(ctx, g)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 3, report.Done)
	require.Equal(t, monday.Add(3*time.Hour), report.Next)
	before := e.versions(t, "hour_versions", "hour")
	g.Progress, g.Resume = nil, true
	report, err = e.recounter().Recount(t.Context(), g)
	require.NoError(t, err)
	require.Equal(t, RangeReport{Hours: hours, Done: 5, Skipped: 3, Next: until}, report)
	require.Len(t, differing(before, e.versions(t, "hour_versions", "hour")), 5)
	require.Equal(t, e.truth("video", monday, asOf), e.total(t, "video"))

	e.Query(t, "ALTER TABLE topk.events DROP PARTITION ID '"+fmt.Sprint(monday.Unix())+"'")
	report, err = e.recounter().Recount(t.Context(), Range{From: monday, Until: monday.Add(2 * time.Hour)})
	require.NoError(t, err)
	require.Equal(t, []time.Time{monday}, report.Kept, "its events are gone: the counts stay")
	require.Equal(t, e.truth("video", monday, asOf), e.total(t, "video"))

	_, err = e.recounter().Recount(t.Context(), Range{From: asOf.Add(time.Minute), Until: asOf})
	require.ErrorContains(t, err, "from: ")
	require.ErrorContains(t, err, "to: ")
	_, err = e.recounter().Recount(t.Context(), Range{From: asOf, Until: asOf.Add(time.Hour)})
	require.ErrorContains(t, err, "has closed no hour")
}

// The commands as they are typed: a planted error is found by its exit status and named, and a recount repairs it.
func testCommands(t *testing.T, e *engine) {
	asOf := monday.Add(4*day + 2*time.Hour)
	e.send(t, stream(1, "video", 1000, 4*24, 5)...)
	rounds(t, e.recounter(), asOf)
	topk := func(arguments ...string) (string, error) {
		output, err := enginetest.Command(context.Background(), append(arguments, "--clickhouse", e.DSN)...).CombinedOutput()
		return string(output), err
	}
	said, err := topk("verify", "totals")
	require.NoError(t, err, said)
	require.Equal(t, "checked 97 hours, 4 days, and a total of 2 days\n", said)

	hour := monday.Add(5 * time.Hour)
	e.Query(t, fmt.Sprintf("INSERT INTO topk.counts_hourly SELECT 'video', 'planted', hour, version, '', '', '', 7 FROM topk.hour_versions WHERE hour = '%s'", hour.Format(time.DateTime)))
	e.Query(t, "INSERT INTO topk.counts_total SELECT 'video', 'planted too', version, '', '', '', 5 FROM topk.recounts_total ORDER BY version DESC LIMIT 1")
	said, err = topk("verify", "totals")
	require.Error(t, err)
	require.Contains(t, said, "hour 2026-03-02T05:00:00Z: the ledger says")
	require.Contains(t, said, "day 2026-03-02 is not the sum of its hours: 1 (item, dimensions) differ, by 7 views in all, such as video planted\n")
	require.Contains(t, said, "the total is not the sum of its days: 1 (item, dimensions) differ, by 5 views in all, such as video planted too\n")
	require.Contains(t, said, "topk: 3 drifts\n")

	said, err = topk("recount", "--from", "2026-03-02T05:00:00Z", "--to", "2026-03-02T07:00:00Z")
	require.NoError(t, err, said)
	require.Equal(t, "recounted 2 of 2 hours\n", said)
	said, err = topk("verify", "totals")
	require.Error(t, err, "the total itself was changed")
	require.NotContains(t, said, "hour ")
	require.NotContains(t, said, "day 2026")

	said, err = topk("recount", "--from", "2026-03-02T05:30:00Z", "--to", "2026-03-02T05:00:00Z")
	require.Error(t, err)
	require.Contains(t, said, "is not the start of an hour")
	require.Contains(t, said, "is not after")
}
