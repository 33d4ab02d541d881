package rollups

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"topk/internal/list"
	"topk/internal/wire"
)

// interposed is a connection that says which question is about to be asked.
type interposed struct {
	driver.Conn
	mu     sync.Mutex
	before func(name string)
}

func (c *interposed) Query(ctx context.Context, text string, args ...any) (driver.Rows, error) {
	entries, err := queries.ReadDir("sql")
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if name := entry.Name()[:len(entry.Name())-len(".sql")]; query(name) == text {
			c.mu.Lock()
			c.before(name)
			c.mu.Unlock()
		}
	}
	return c.Conn.Query(ctx, text, args...)
}

// asking counts the questions of a builder.
func (e *engines) asking(change ...func(*BuilderConfig)) (*Builder, map[string]int) {
	asked := map[string]int{}
	b := e.builder(change...)
	b.interpose(func(name string) { asked[name]++ })
	return b, asked
}

func (b *Builder) interpose(before func(name string)) {
	b.conn = &interposed{Conn: b.conn, before: before}
	b.duplicates.conn = b.conn
}

func counts1m(t *testing.T, b *Builder, asOf time.Time) map[string]uint64 {
	t.Helper()
	found := map[string]uint64{}
	l := build(t, b, "1m", "video", asOf)
	for _, item := range l.Items {
		found[item.ItemID] = item.Count
		require.Equal(t, item.Count, item.Upper)
	}
	return found
}

// A second is read once, and again when anything arrives for it: from Kafka, late or not, or by hand. A replay is no change.
func testWhatChangedIsRead(t *testing.T, e *engines) {
	start := e.newDay()
	b, asked := e.asking()
	asOf := start.Add(50 * time.Second)
	first := e.message(views("a", 3, start.Add(10*time.Second), start.Add(20*time.Second))...)
	e.land(t, wire.CountsTopic, first)
	require.Equal(t, map[string]uint64{"a": 6}, counts1m(t, b, asOf))
	require.Equal(t, 1, asked["count_seconds_plain"])

	require.Equal(t, map[string]uint64{"a": 6}, counts1m(t, b, asOf))
	require.Equal(t, 1, asked["count_seconds_plain"], "nothing has changed")
	e.land(t, wire.CountsTopic, first)
	require.Equal(t, map[string]uint64{"a": 6}, counts1m(t, b, asOf))
	require.Equal(t, 1, asked["count_seconds_plain"], "a replay is no change")

	e.land(t, wire.CountsTopic, e.message(views("a", 1, start.Add(20*time.Second))...))
	require.Equal(t, map[string]uint64{"a": 7}, counts1m(t, b, asOf), "it came late")
	require.Equal(t, 2, asked["count_seconds_plain"])
	require.Equal(t, 1, asked["count_seconds"], "the replayed row is there twice")

	e.land(t, "", e.message(views("a", 2, start.Add(10*time.Second), start.Add(30*time.Second))...))
	for range 2 {
		l := build(t, b, "1m", "video", asOf)
		require.Equal(t, uint64(11), l.Items[0].Count, "it was written by hand")
		require.Equal(t, uint64(11), l.Total)
	}
	require.Equal(t, 4, asked["count_seconds_plain"], "what was written by hand is not remembered")
	require.Zero(t, asked["add_items"])
	require.Equal(t, map[string]uint64{"a": 2}, counts1m(t, b, asOf.Add(31*time.Second)), "the window moves on")
}

// Views of a block become visible in no fixed order: what had landed and was not counted yet is not remembered.
func testHalfVisibleBlockIsNotRemembered(t *testing.T, e *engines) {
	start, b := e.newDay(), e.builder()
	at, asOf := start.Add(10*time.Second), start.Add(30*time.Second)
	e.land(t, wire.CountsTopic, e.message(views("a", 3, at)...))
	sequence := e.message().sequence
	e.Query(t, fmt.Sprintf("INSERT INTO topk.landed VALUES ('video', %d, 'test@1', %d, 4, 0)", at.Unix(), sequence))
	require.Equal(t, map[string]uint64{"a": 3}, counts1m(t, b, asOf))
	e.Query(t, fmt.Sprintf("INSERT INTO topk.counts_second VALUES ('video', 'a', %d, '', '', '', 'test@1', %d, 4)", at.Unix(), sequence))
	require.Equal(t, map[string]uint64{"a": 7}, counts1m(t, b, asOf))

	sequence = e.message().sequence
	e.Query(t, fmt.Sprintf("INSERT INTO topk.counts_second VALUES ('video', 'a', %d, '', '', '', 'test@1', %d, 5)", at.Unix(), sequence))
	l := build(t, e.builder(), "1m", "video", asOf)
	require.Equal(t, uint64(12), l.Items[0].Count)
	require.Equal(t, uint64(12), l.MaxOvercount, "no event is known, and what was counted before it landed may be repeated too")
}

// One message that is there twice has the total of two messages: the fingerprint tells them apart.
func testMessageTwiceIsNotTwoMessages(t *testing.T, e *engines) {
	start, b := e.newDay(), e.builder()
	at, asOf := start.Add(10*time.Second), start.Add(30*time.Second)
	once := e.message(views("a", 4, at)...)
	e.land(t, wire.CountsTopic, once)
	e.land(t, wire.CountsTopic, once)
	sequence := e.message().sequence
	e.Query(t, fmt.Sprintf("INSERT INTO topk.landed VALUES ('video', %d, 'test@1', %d, 4, 0)", at.Unix(), sequence))
	require.Equal(t, map[string]uint64{"a": 4}, counts1m(t, b, asOf))
	e.Query(t, fmt.Sprintf("INSERT INTO topk.counts_second VALUES ('video', 'b', %d, '', '', '', 'test@1', %d, 4)", at.Unix(), sequence))
	e.Query(t, fmt.Sprintf("INSERT INTO topk.topk_10s VALUES ('video', 'global', %d, 1, [('b', 4, 0)], 0, 4)", at.Unix()))
	require.Equal(t, map[string]uint64{"a": 4, "b": 4}, counts1m(t, b, asOf))
}

// More items than are candidates take turns at the top: those that were not asked for are read of the seconds that are known.
func testCandidateComesBack(t *testing.T, e *engines) {
	start := e.newDay()
	b, asked := e.asking()
	const items = 2*(nominees+followers) + 500
	truth := map[string]map[int]uint64{}
	for second := range 8 {
		var rows []count
		for n := range items {
			id, views := fmt.Sprintf("%05d", n), uint64(1)
			if n*8/items == second || n < 200 {
				views = uint64(20 + second)
			}
			rows = append(rows, count{itemType: "video", id: id, second: start.Add(time.Duration(second) * time.Second), n: views})
			if truth[id] == nil {
				truth[id] = map[int]uint64{}
			}
			truth[id][second] = views
		}
		e.land(t, wire.CountsTopic, e.message(rows...))
		l := build(t, b, "1m", "video", start.Add(time.Duration(second+1)*time.Second))
		require.Len(t, l.Items, list.StoredItems)
		for _, item := range l.Items {
			var n uint64
			for _, views := range truth[item.ItemID] {
				n += views
			}
			require.Equal(t, n, item.Count, "%s at second %d", item.ItemID, second)
		}
	}
	require.Positive(t, asked["add_items"])
	require.Equal(t, 8, asked["count_seconds_plain"])
	require.LessOrEqual(t, len(b.seconds.slots), 2*(nominees+followers))
	require.LessOrEqual(t, len(b.seconds.held), 60)
}

// A stream without times of its own, sent twice, is looked through up to a bound, and beyond it assumed to be sent twice.
func testUntimedEventsSentTwice(t *testing.T, e *engines) {
	start := e.newDay()
	var events []event
	for n := range 2_000 {
		v := event{itemType: "video", id: fmt.Sprintf("item-%d", n%7*n%5), eventID: fmt.Sprint(n), at: start.Add(time.Duration(n%20) * time.Second), stamped: wire.Untimed}
		again := v
		again.at = v.at.Add(time.Duration(1+n%3) * time.Second)
		events = append(events, v, again)
		if n%2 == 0 {
			events = append(events, event{itemType: "video", id: "timed", eventID: fmt.Sprint(n), at: v.at})
		}
	}
	e.landEvents(t, events)
	rows := map[count]uint64{}
	for _, v := range events {
		rows[count{itemType: "video", id: v.id, second: v.at}]++
	}
	m := e.message()
	for row, n := range rows {
		row.n = n
		m.rows = append(m.rows, row)
	}
	e.land(t, wire.CountsTopic, m)
	for limit, overcount := range map[uint64]uint64{10_000: 2_000, 4_500: 2_000, 100: 4_000} {
		asOf := start.Add(40 * time.Second)
		l := build(t, e.builder(func(c *BuilderConfig) { c.DuplicateRows = limit }), "1m", "video", asOf)
		requireClaims(t, l, truthOf(start, asOf, events))
		require.Equal(t, overcount, l.MaxOvercount, "limit %d", limit)
	}
}

// Blocks land between any two questions of a build, of both topics and in any order: what was there before is counted, and
// nothing is claimed that was never sent.
func testClaimsWhileLanding(t *testing.T, e *engines) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	s := stream{seed: seed, skew: 1, items: 6_000, events: 6_000, blocks: 30, length: 120, duplicates: 0.05, anywhere: true}
	start := e.newDay()
	a := s.make(e, "video", start)
	var before, after []event // of blocks wholly there, and of those that have begun to arrive
	next := 0
	var pending []func()
	land := func() {
		if len(pending) == 0 && next < s.blocks {
			block := next
			next++
			after = append(after, a.sent[block]...)
			pending = []func(){func() { e.land(t, wire.CountsTopic, a.blocks[block]...) }, func() { e.landEvents(t, a.sent[block]) }}
			r.Shuffle(2, func(i, j int) { pending[i], pending[j] = pending[j], pending[i] })
		}
		if len(pending) > 0 {
			pending[0]()
			pending = pending[1:]
		}
	}
	builders := map[uint64]map[string]*Builder{}
	for _, limit := range []uint64{2_000_000, 4_000, 1} {
		builders[limit] = map[string]*Builder{}
		for _, w := range list.Live {
			b := e.builder(func(c *BuilderConfig) { c.DuplicateRows = limit })
			b.interpose(func(string) {
				if r.IntN(6) == 0 {
					land()
				}
			})
			builders[limit][w.Name] = b
		}
	}
	land()
	for step := 0; next < s.blocks || step%40 != 0; step++ {
		for len(pending) > 0 {
			land()
		}
		before = append([]event(nil), after...)
		asOf := start.Add(time.Duration(70+step%40) * time.Second)
		w := list.Live[step%len(list.Live)]
		limit := []uint64{2_000_000, 4_000, 1}[r.IntN(3)]
		l := build(t, builders[limit][w.Name], w.Name, "video", asOf)
		least, most := truthOf(asOf.Add(-w.Length), asOf, before), truthOf(asOf.Add(-w.Length), asOf, after)
		listed := map[string]bool{}
		for _, item := range l.Items {
			listed[item.ItemID] = true
			if item.Count < least[item.ItemID] || item.Upper < least[item.ItemID] || item.Lower > most[item.ItemID] || item.Count > most[item.ItemID]+l.MaxOvercount {
				require.Fail(t, "a claim is false", "%+v of a %s list with max_overcount %d and limit %d: the truth is %d to %d", item, w.Name, l.MaxOvercount, limit, least[item.ItemID], most[item.ItemID])
			}
		}
		for id, n := range least {
			require.True(t, listed[id] || n <= l.Floor, "%s has %d views, the floor is %d", id, n, l.Floor)
		}
	}
}
