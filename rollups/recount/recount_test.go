package recount

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Whatever the order and however often events arrive, up to 40 hours late, the same counts come out, hour by hour.
func testAnyOrderOfArrival(t *testing.T, e *engine) {
	const n, hours, every = 2000, 41, 4
	random := rand.New(rand.NewPCG(7, 7))
	shuffled, twice, late := stream(1, "shuffled", n, hours, every), stream(1, "twice", n, hours, every), stream(1, "late", n, hours, every)
	twice = append(twice, twice...)
	for _, events := range [][]event{shuffled, twice} {
		random.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	}
	punctual := n - n/20
	for events := range chunks([][]event{stream(1, "inorder", n, hours, every), shuffled, twice, late[:punctual]}, 700) {
		e.send(t, events...)
	}
	r, asOf := e.recounter(), monday.Add((hours+1)*time.Hour)
	require.Equal(t, 11, rounds(t, r, asOf).Hours)
	e.send(t, late[punctual:]...) // some in every hour
	require.Equal(t, 11, rounds(t, r, asOf).Hours)

	types := []string{"inorder", "late", "shuffled", "twice"}
	var want strings.Builder
	for _, itemType := range types {
		for hour := 0; hour < hours; hour += every {
			from := monday.Add(time.Duration(hour) * time.Hour)
			for _, c := range e.truth("inorder", from, from.Add(time.Hour)) {
				fmt.Fprintf(&want, "%s\t%s\t%s\t%d\n", itemType, from.Format(time.DateTime), c.ItemID, c.Views)
			}
		}
		require.Equal(t, e.truth("inorder", monday, asOf), e.total(t, itemType))
		require.Equal(t, e.truth("inorder", monday.Add(day), asOf), e.exact(t, itemType, monday.Add(day), monday.Add(hours*time.Hour)))
	}
	require.Equal(t, strings.TrimSpace(want.String()), e.Query(t, `SELECT item_type, hour, item_id, sum(n) AS views FROM topk.counts_hourly FINAL
		WHERE (hour, version) IN (SELECT hour, version FROM topk.hour_versions)
		GROUP BY item_type, hour, item_id ORDER BY item_type, hour, views DESC, item_id`))
	e.sound(t)
}

func chunks(streams [][]event, size int) func(yield func([]event) bool) {
	return func(yield func([]event) bool) {
		for _, events := range streams {
			for len(events) > 0 {
				n := min(size, len(events))
				if !yield(events[:n]) {
					return
				}
				events = events[n:]
			}
		}
	}
}

// An hour closes when the watermark has passed its end by ten minutes, quiet hours too; the ledger then has no gap.
func testHoursCloseInOrder(t *testing.T, e *engine) {
	r := e.recounter()
	until := func() time.Time {
		l, err := readLedger(t.Context(), e.conn)
		require.NoError(t, err)
		return l.exactUntil()
	}
	rounds(t, r, monday)
	require.Equal(t, int64(0), until().Unix(), "nothing is known of any hour")
	at := monday.Add(10*time.Hour + 30*time.Minute)
	e.send(t, event{"video", "a", "1", "IN", at, false}, event{"video", "a", "2", "IN", at.Add(3 * time.Hour), false},
		event{"video", "b", "3", "IN", at, true})
	require.Zero(t, rounds(t, r, monday.Add(11*time.Hour+10*time.Minute-time.Second)).Hours)
	require.Equal(t, monday.Add(10*time.Hour), until(), "the quiet hours before it")
	require.Equal(t, 1, rounds(t, r, monday.Add(11*time.Hour+10*time.Minute)).Hours)
	require.Equal(t, monday.Add(11*time.Hour), until())
	require.Equal(t, 1, rounds(t, r, monday.Add(20*time.Hour+10*time.Minute)).Hours)
	require.Equal(t, monday.Add(20*time.Hour), until())
	require.Equal(t, []Count{{"a", 2}}, e.total(t, "video"), "without the flagged event")
	require.Equal(t, []Count{{"a", 1}}, e.exact(t, "video", monday.Add(13*time.Hour), monday.Add(19*time.Hour)))

	cover, err := ReadCover(t.Context(), e.conn, monday, monday.Add(48*time.Hour))
	require.NoError(t, err)
	require.Equal(t, monday.Add(20*time.Hour), cover.Until, "no further than is exact")

	e.send(t, event{"video", "a", "9", "IN", monday.Add(5 * time.Hour), false}) // in an hour that was quiet
	require.Equal(t, 1, rounds(t, r, monday.Add(20*time.Hour+10*time.Minute)).Hours)
	require.Equal(t, []Count{{"a", 3}}, e.total(t, "video"))
	require.Equal(t, "late", e.Query(t, "SELECT why FROM topk.hour_versions WHERE hour = '2026-03-02 05:00:00'"))
	require.Zero(t, rounds(t, r, monday.Add(20*time.Hour+10*time.Minute)).Hours, "counted")
}

// While events keep coming for an old hour, it waits until it is quiet, but not for ever.
func testLateEventsAreDebounced(t *testing.T, e *engine) {
	r := e.recounter(func(c *Config) { c.Debounce, c.MaxDebounce = time.Hour, 4*time.Hour })
	asOf := monday.Add(5 * time.Hour)
	e.send(t, stream(1, "video", 100, 2, 1)...)
	require.Equal(t, 2, rounds(t, r, asOf).Hours, "the first recount waits for nothing")
	late := 0
	arrive := func() {
		late++
		e.send(t, event{"video", "late", fmt.Sprint(late), "IN", monday, false})
	}
	pass := func(d time.Duration) { // as if that time had gone by
		c := r.changed[monday]
		r.changed[monday] = change{block: c.block, since: c.since.Add(-d), due: c.due.Add(-d)}
	}
	arrive()
	report, err := r.Round(t.Context(), asOf)
	require.NoError(t, err)
	require.Zero(t, report.Hours)
	require.Equal(t, monday, report.Due, "until it is counted its events must stay")
	require.Zero(t, report.Uncounted, "it has counts")
	pass(2 * time.Hour)
	arrive()
	require.Zero(t, rounds(t, r, asOf).Hours, "it changed again")
	pass(time.Hour)
	require.Equal(t, 1, rounds(t, r, asOf).Hours)
	require.Equal(t, e.truth("video", monday, asOf), e.total(t, "video"))
	for range 4 {
		arrive()
		require.Zero(t, rounds(t, r, asOf).Hours, "it is never quiet")
		pass(time.Hour)
	}
	arrive()
	require.Equal(t, 1, rounds(t, r, asOf).Hours, "it has waited for long enough")
	require.Equal(t, e.truth("video", monday, asOf), e.total(t, "video"))
}

// While nothing is due the ledgers are left alone, but for a look now and then.
func testQuietRounds(t *testing.T, e *engine) {
	r := e.recounter(func(c *Config) { c.LookEvery = time.Hour })
	asOf := monday.Add(2*day + time.Hour)
	e.send(t, stream(1, "video", 200, 48, 6)...)
	rounds(t, r, asOf)
	bug := func(version int) {
		e.Query(t, fmt.Sprintf("INSERT INTO topk.recounts (hour, version, events, distinct_events, items, why) VALUES ('2026-03-02 05:00:00', %d, 0, 0, 0, 'by hand')", 2_000_000_000_000_000+version))
	}
	bug(1)
	require.Zero(t, rounds(t, r, asOf).Days, "it was looked at a moment ago")
	r.looked = r.looked.Add(-time.Hour)
	require.Equal(t, 1, rounds(t, r, asOf).Days)
	bug(2)
	require.Equal(t, 1, rounds(t, r, asOf.Add(time.Hour)).Days, "an hour has closed")
	bug(3)
	e.send(t, event{"video", "late", "1", "IN", monday.Add(30 * time.Hour), false})
	require.Equal(t, 2, rounds(t, r, asOf.Add(time.Hour)).Days, "an hour was recounted")
	e.sound(t)
}

// Years without an event cost a statement, not one an hour or a day, and an event that comes for a day among them is counted.
func testGapOfYears(t *testing.T, e *engine) {
	r := e.recounter()
	later := monday.AddDate(3, 0, 0)
	e.send(t, event{"video", "a", "1", "IN", monday, false}, event{"video", "a", "2", "IN", later, false})
	asOf := later.Add(2*day + time.Hour)
	sum := rounds(t, r, asOf)
	require.Equal(t, []int{2, 2, 1096/maxFold + 1}, []int{sum.Hours, sum.Days, sum.Totals})
	cover, err := ReadTotalCover(t.Context(), e.conn)
	require.NoError(t, err)
	require.Equal(t, asOf.Truncate(time.Hour), cover.ExactUntil.Add(time.Hour))
	require.LessOrEqual(t, cover.Partitions(), 4)
	require.Equal(t, []Count{{"a", 2}}, e.top(t, cover, "video"))
	e.send(t, event{"video", "a", "3", "IN", later.AddDate(0, 0, -20), false})
	rounds(t, r, asOf)
	require.Equal(t, []Count{{"a", 3}}, e.total(t, "video"))
}
