package rollups

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/list"
	"topk/internal/wire"
)

// views are n views of an item in each of some seconds.
func views(id string, n uint64, seconds ...time.Time) []count {
	var rows []count
	for _, s := range seconds {
		rows = append(rows, count{itemType: "video", id: id, second: s, n: n})
	}
	return rows
}

// The item is eleventh on each partition, ten others lead each, and it is first in total. On top of that each block holds
// more items than a summary keeps.
func testEleventhEverywhereFirstInTotal(t *testing.T, e *engines) {
	start := e.newDay()
	for partition := range 4 {
		var rows []count
		for leader := range 10 {
			rows = append(rows, views(fmt.Sprintf("leader-%d-%d", partition, leader), 100, start)...)
		}
		rows = append(rows, views("eleventh", 99, start)...)
		for noise := range 6_000 {
			rows = append(rows, views(fmt.Sprintf("noise-%d-%d", partition, noise), 2, start)...)
		}
		e.land(t, wire.CountsTopic, e.message(rows...))
	}
	for _, w := range list.Live {
		l := build(t, e.builder(), w.Name, "video", start.Add(time.Minute))
		require.Equal(t, "eleventh", l.Items[0].ItemID, w.Name)
		require.Equal(t, uint64(396), l.Items[0].Count)
		require.EqualValues(t, 4*(1000+99+12_000), l.Total)
	}
}

// An item without a past explodes inside one bucket of ten seconds.
func testExplosionInOneBucketIsFound(t *testing.T, e *engines) {
	start := e.newDay()
	for second := range 50 {
		var rows []count
		for noise := range 5_000 {
			rows = append(rows, views(fmt.Sprintf("steady-%d", noise), 3, start.Add(time.Duration(second)*time.Second))...)
		}
		if second%10 == 0 {
			e.land(t, wire.CountsTopic, e.message(rows...))
		}
	}
	e.land(t, wire.CountsTopic, e.message(views("bang", 500, start.Add(53*time.Second))...))
	l := build(t, e.builder(), "1m", "video", start.Add(55*time.Second))
	require.Equal(t, "bang", l.Items[0].ItemID)
	require.Equal(t, uint64(500), l.Items[0].Count)
	require.Less(t, l.Floor, uint64(500), "nothing else can have as many")
	require.NotContains(t, show(build(t, e.builder(), "1m", "video", start.Add(53*time.Second))), "bang", "it is not in the window yet")
}

// Blocks that arrive again, in whole minutes and at the ends, change no list; a minute that holds them twice is read from
// its seconds.
func testReplaysChangeNothing(t *testing.T, e *engines) {
	start := e.newDay()
	var messages []message
	for minute := range 8 {
		at := start.Add(time.Duration(minute)*time.Minute + 20*time.Second)
		messages = append(messages, e.message(append(views("a", uint64(5+minute), at, at.Add(time.Second)), views("b", 7, at)...)...))
	}
	e.land(t, wire.CountsTopic, messages...)
	asOf, b := start.Add(7*time.Minute+21*time.Second), e.builder()
	before := map[string]string{}
	for _, w := range list.Live {
		before[w.Name] = show(build(t, b, w.Name, "video", asOf))
	}
	e.land(t, wire.CountsTopic, messages[3])
	e.land(t, wire.CountsTopic, messages[7])
	for _, w := range list.Live {
		require.Equal(t, before[w.Name], show(build(t, b, w.Name, "video", asOf)), w.Name)
		l := build(t, e.builder(func(c *BuilderConfig) { c.VerifyTimeout = time.Nanosecond }), w.Name, "video", asOf)
		require.Equal(t, list.MethodEstimated, l.Method)
		require.GreaterOrEqual(t, l.MaxOvercount, l.Items[0].Count-l.Items[0].Lower)
	}
}

// Rows written by hand are in no landed total: the seconds say themselves how much there is.
func testHandWrittenRowsAreCounted(t *testing.T, e *engines) {
	start := e.newDay()
	e.land(t, wire.CountsTopic, e.message(views("piped", 5, start, start.Add(2*time.Minute))...))
	e.land(t, "", e.message(views("by hand", 9, start.Add(time.Second), start.Add(3*time.Minute))...))
	l := build(t, e.builder(), "5m", "video", start.Add(200*time.Second))
	require.Equal(t, []uint64{18, 10}, []uint64{l.Items[0].Count, l.Items[1].Count})
	require.Equal(t, uint64(28), l.Total)
}

func testLateEventsReviseTheList(t *testing.T, e *engines) {
	start, b := e.newDay(), e.builder()
	e.land(t, wire.CountsTopic, e.message(views("a", 5, start.Add(10*time.Second), start.Add(100*time.Second))...))
	asOf := start.Add(4 * time.Minute)
	require.Equal(t, uint64(10), build(t, b, "5m", "video", asOf).Items[0].Count)
	e.land(t, wire.CountsTopic, e.message(views("a", 2, start.Add(100*time.Second))...))
	require.Equal(t, uint64(12), build(t, b, "5m", "video", asOf).Items[0].Count)
}

func testTiesFallByID(t *testing.T, e *engines) {
	start := e.newDay()
	var rows []count
	for _, id := range []string{"d", "b", "a", "c", "B"} {
		rows = append(rows, views(id, 4, start)...)
	}
	e.land(t, wire.CountsTopic, e.message(append(rows, views("top", 9, start)...)...))
	var events []event
	for n := range 29 {
		events = append(events, event{itemType: "video", id: "any", eventID: fmt.Sprint(n), at: start})
	}
	e.landEvents(t, events)
	l := build(t, e.builder(), "1m", "video", start.Add(time.Second))
	var order []string
	var ranks []int
	for _, item := range l.Items {
		order, ranks = append(order, item.ItemID), append(ranks, item.Rank)
	}
	require.Equal(t, []string{"top", "B", "a", "b", "c", "d"}, order)
	require.Equal(t, []int{1, 2, 2, 2, 2, 2}, ranks)
	require.Zero(t, l.MaxOvercount)
	for k := 1; k <= 7; k++ {
		require.True(t, l.Cut(k).Certified, "counts are exact and the order is total: k=%d", k)
	}
}

func testEmptyWindowHasAReason(t *testing.T, e *engines) {
	start := e.newDay()
	e.land(t, wire.CountsTopic, e.message(views("a", 5, start)...))
	l := build(t, e.builder(), "1m", "video", start.Add(time.Hour))
	require.Empty(t, l.Items)
	require.NotNil(t, l.Items)
	require.NotEmpty(t, l.Reason)
	require.True(t, l.Certified)
	require.Zero(t, l.Total)
}

// strangeIDs are opaque bytes that must come back as they went in.
var strangeIDs = []string{"a/b", "a%2Fb", "../..", "-leading", `quo"te's\back\\slash`, "🎬👩‍👩‍👧", "مرحبا", `\'`, `'`, `]`, "{x:String}", "@ids", "$1", "?", " spaced ",
	strings.Repeat("é", 128), strings.Repeat(`\`, 256)}

func testStrangeIDsAreCounted(t *testing.T, e *engines) {
	start := e.newDay()
	var rows []count
	for i, id := range strangeIDs {
		rows = append(rows, views(id, uint64(100-i), start, start.Add(time.Minute))...)
	}
	e.land(t, wire.CountsTopic, e.message(rows...))
	for _, budget := range []time.Duration{time.Minute, time.Nanosecond} {
		b := e.builder(func(c *BuilderConfig) { c.VerifyTimeout = budget })
		l := build(t, b, "5m", "video", start.Add(130*time.Second))
		require.Len(t, l.Items, len(strangeIDs))
		for i, item := range l.Items {
			require.Equal(t, strangeIDs[i], item.ItemID)
			require.Equal(t, uint64(2*(100-i)), item.Count)
		}
	}
}

// The parts of a question stay under what a server accepts in a URL, and give the same list.
func testManyLongIDsAreAskedInParts(t *testing.T, e *engines) {
	start := e.newDay()
	var rows []count
	for n := range nominees {
		rows = append(rows, views(strings.Repeat("長", 80)+fmt.Sprintf("%06d", n), uint64(1+n%50), start)...)
	}
	e.land(t, wire.CountsTopic, e.message(rows...))
	l := build(t, e.builder(), "1m", "video", start.Add(time.Second))
	require.Len(t, l.Items, list.StoredItems)
	require.Equal(t, uint64(50), l.Items[0].Count)
	require.Equal(t, list.MethodVerified, l.Method)
	require.Equal(t, uint64(nominees/50*(50*51)/2), l.Total)
}

// Candidates are a prefix of the key: of 40,000 items the granules of three are read.
func testCandidatesAreReadByKey(t *testing.T, e *engines) {
	start := e.newDay()
	var rows []count
	for n := range 40_000 {
		rows = append(rows, views(fmt.Sprintf("%05d", n), 1, start)...)
	}
	e.land(t, wire.CountsTopic, e.message(rows...))
	for name, p := range map[string]parameters{
		"verify_minutes": {"minutes": []time.Time{start}},
		"verify_seconds": {"from": start, "until": start.Add(time.Second), "totals": []string(nil)},
	} {
		p["types"], p["ids"] = []string{"video", "video", "video"}, []string{"00001", "20000", "39999"}
		rows, err := e.conn.Query(questions.Context(t.Context(), p, time.Minute), "EXPLAIN ESTIMATE "+query(name))
		require.NoError(t, err)
		var marks uint64
		for rows.Next() {
			var database, table string
			var parts, read, granules uint64
			require.NoError(t, rows.Scan(&database, &table, &parts, &read, &granules))
			marks += granules
		}
		require.NoError(t, rows.Err())
		require.NoError(t, rows.Close())
		require.Positive(t, marks, name)
		require.LessOrEqual(t, marks, uint64(8), "%s reads %d granules of 40", name, marks)
	}
}

// Repeats are counted second by second, and again when one has changed. In a small window those in other seconds are found
// as well, in a large one only those whose time an ingestor's clock gave.
func testRepeatsAreCounted(t *testing.T, e *engines) {
	start := e.newDay()
	at := func(id string, stamped wire.Stamp, seconds ...int) (events []event) {
		for _, s := range seconds {
			events = append(events, event{itemType: "video", id: id, eventID: "same", at: start.Add(time.Duration(s) * time.Second), stamped: stamped})
		}
		return events
	}
	land := func(lists ...[]event) {
		for _, events := range lists {
			e.landEvents(t, events)
			for _, v := range events {
				e.land(t, wire.CountsTopic, e.message(views(v.id, 1, v.at)...))
			}
		}
	}
	repeats := func(d *duplicates, name string) int {
		asOf := start.Add(75 * time.Second)
		return int(e.repeats(t, d, name, asOf)["video"])
	}
	land(at("before", wire.OwnTime, 1, 2), at("a", wire.OwnTime, 16, 17), at("last", wire.OwnTime, 71, 71),
		at("x", wire.OwnTime, 20), at("y", wire.OwnTime, 20), at("z", wire.OwnTime, 20))
	whole, parts, few := newDuplicates(e.conn, 100), newDuplicates(e.conn, 4), newDuplicates(e.conn, 1)
	require.Equal(t, []int{2, 3}, []int{repeats(whole, "1m"), repeats(whole, "1h")})
	require.Equal(t, []int{1, 1}, []int{repeats(parts, "1m"), repeats(parts, "1h")}, "a client's own changes of time are left to the recount")
	land(at("late", wire.OwnTime, 33, 33))
	require.Equal(t, []int{3, 4}, []int{repeats(whole, "1m"), repeats(whole, "1h")})
	require.Equal(t, []int{2, 2}, []int{repeats(parts, "1m"), repeats(parts, "1h")})
	land(at("untimed", wire.Untimed, 5, 40, 42), at("once", wire.Untimed, 43))
	require.Equal(t, []int{4, 6}, []int{repeats(whole, "1m"), repeats(whole, "1h")})
	require.Equal(t, []int{3, 4}, []int{repeats(parts, "1m"), repeats(parts, "1h")}, "those without a time of their own are looked for")
	require.Equal(t, []int{5, 6}, []int{repeats(few, "1m"), repeats(few, "1h")}, "too many to look for: each may be a repeat")
	land(at("ahead", wire.Ahead, 50), at("ahead", wire.OwnTime, 55))
	require.Equal(t, []int{5, 7}, []int{repeats(whole, "1m"), repeats(whole, "1h")})
	require.Equal(t, []int{4, 5}, []int{repeats(parts, "1m"), repeats(parts, "1h")}, "it may have been accepted again as it was")
}

// repeats is what a build would find.
func (e *engines) repeats(t *testing.T, d *duplicates, name string, asOf time.Time) map[string]uint64 {
	t.Helper()
	q := question{window: window(t, name), types: []string{"video"}, from: asOf.Add(-window(t, name).Length), asOf: asOf}
	var err error
	q.landed, err = readLanded(t.Context(), e.conn, q.types, span{q.from, q.asOf})
	require.NoError(t, err)
	found, err := d.distinct(t.Context(), q)
	require.NoError(t, err)
	return found.repeats(q, q.landed)
}

// An event whose counts have not landed yet hides no repeat in another second.
func testEventsAheadOfTheirCountsHideNoRepeat(t *testing.T, e *engines) {
	start := e.newDay()
	v := event{itemType: "video", id: "a", eventID: "1", at: start.Add(5 * time.Second)}
	w := event{itemType: "video", id: "b", eventID: "2", at: start.Add(6 * time.Second)}
	e.landEvents(t, []event{v, v, w})
	e.land(t, wire.CountsTopic, e.message(views("a", 2, v.at)...))
	for _, limit := range []uint64{100, 1} {
		require.Equal(t, uint64(1), e.repeats(t, newDuplicates(e.conn, limit), "1m", start.Add(10*time.Second))["video"], "limit %d", limit)
	}
}

// Where a message was replayed the lower counts may hold a view twice, and nobody is left out for them.
func testReplaysLeaveNobodyOut(t *testing.T, e *engines) {
	start := e.newDay()
	var rows []count
	for n := range list.StoredItems + 500 {
		rows = append(rows, views(fmt.Sprintf("%05d", n), uint64(1+n/100), start)...)
	}
	m := e.message(rows...)
	b := e.builder()
	nominees := func() *nomination {
		w := window(t, "1m")
		asOf := start.Add(30 * time.Second)
		q := question{window: w, from: asOf.Add(-w.Length), asOf: asOf, types: []string{"video"}}
		var err error
		q.landed, err = readLanded(t.Context(), e.conn, q.types, span{q.from, q.asOf})
		require.NoError(t, err)
		named, err := b.nominate(t.Context(), q)
		require.NoError(t, err)
		return named["video"]
	}
	e.land(t, wire.CountsTopic, m)
	require.True(t, nominees().once)
	require.Len(t, nominees().items, list.StoredItems, "as many as a list stores, down to the same count")
	require.Len(t, nominees().next, 500)
	e.land(t, wire.CountsTopic, m)
	require.False(t, nominees().once)
	require.Len(t, nominees().items, len(rows))
}
