package rollups

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sort"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/list"
	"topk/internal/wire"
)

// stream is a random stream, and how it arrives.
type stream struct {
	seed       uint64
	skew       float64 // Zipf exponent
	items      int
	events     int
	blocks     int     // that it arrives in
	length     int     // seconds
	anywhere   bool    // events arrive in any block, not in order of time
	duplicates float64 // share of events that are sent again, some with another time
	replays    int     // blocks that arrive twice
	optimize   bool    // background merges between arrival and reading
}

// arrival is a stream in blocks, and the truth of it.
type arrival struct {
	blocks [][]message
	events []event   // as sent, repeats included
	sent   [][]event // the same by block
}

func ranks(r *rand.Rand, skew float64, items int) func() int {
	sums := make([]float64, items)
	total := 0.0
	for i := range sums {
		total += math.Pow(float64(i+1), -skew)
		sums[i] = total
	}
	return func() int { return sort.SearchFloat64s(sums, r.Float64()*total) }
}

// make draws the stream. The same seed gives the same stream.
func (s stream) make(e *engines, itemType string, start time.Time) arrival {
	r := rand.New(rand.NewPCG(s.seed, 1))
	rank := ranks(r, s.skew, s.items)
	a := arrival{blocks: make([][]message, s.blocks), sent: make([][]event, s.blocks)}
	rows := make([]map[count]uint64, s.blocks)
	send := func(v event) {
		a.events = append(a.events, v)
		block := int(v.at.Sub(start)/time.Second) * s.blocks / s.length
		block = min(max(block+r.IntN(3)-1, 0), s.blocks-1)
		if s.anywhere {
			block = r.IntN(s.blocks)
		}
		if rows[block] == nil {
			rows[block] = map[count]uint64{}
		}
		a.sent[block] = append(a.sent[block], v)
		rows[block][count{itemType: itemType, id: v.id, country: []string{"", "IN", "DE"}[r.IntN(3)], second: v.at.Truncate(time.Second)}]++
	}
	for n := range s.events {
		v := event{itemType: itemType, id: fmt.Sprintf("item-%d", rank()), eventID: fmt.Sprintf("e%d", n),
			at: start.Add(time.Duration(r.IntN(s.length*1000)) * time.Millisecond)}
		if s.duplicates > 0 {
			v.stamped = [...]wire.Stamp{wire.OwnTime, wire.OwnTime, wire.Untimed, wire.Ahead}[r.IntN(4)]
		}
		send(v)
		for r.Float64() < s.duplicates {
			// A time that an ingestor's clock gave is another one for a repeat.
			if again := v.at.Add(time.Duration(r.IntN(3)) * time.Second); v.stamped != wire.OwnTime && again.Before(start.Add(time.Duration(s.length)*time.Second)) {
				v.at = again
			}
			if v.stamped == wire.Ahead && r.IntN(2) == 0 {
				v.stamped = wire.OwnTime // its own time is no longer too far ahead
			}
			send(v)
		}
	}
	for block := range rows {
		m := e.message()
		for row, n := range rows[block] {
			row.n = n
			m.rows = append(m.rows, row)
		}
		a.blocks[block] = []message{m}
	}
	return a
}

// truth counts the events of [from, asOf), each once. A repeat with another time counts where any of its times is inside.
func (a arrival) truth(from, asOf time.Time) map[string]uint64 { return truthOf(from, asOf, a.events) }

func truthOf(from, asOf time.Time, events []event) map[string]uint64 {
	seen := map[[2]string]bool{}
	truth := map[string]uint64{}
	for _, v := range events {
		key := [2]string{v.id, v.eventID}
		if v.at.Before(from) || !v.at.Before(asOf) || seen[key] {
			continue
		}
		seen[key] = true
		truth[v.id]++
	}
	return truth
}

// arrive lands the blocks in a random order, some of them twice.
func (a arrival) arrive(t *testing.T, e *engines, s stream, order uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(s.seed, order))
	for i, block := range r.Perm(len(a.blocks)) {
		e.land(t, wire.CountsTopic, a.blocks[block]...)
		if i < s.replays {
			e.land(t, wire.CountsTopic, a.blocks[block]...)
		}
	}
	e.landEvents(t, a.events)
	if s.optimize {
		for _, table := range []string{"topk_10s", "counts_second", "counts_minute", "landed", "cms_minute"} {
			e.Query(t, "OPTIMIZE TABLE topk."+table+" FINAL")
		}
	}
}

// requireClaims holds a list against the truth.
func requireClaims(t *testing.T, l *list.List, truth map[string]uint64) {
	t.Helper()
	listed := map[string]bool{}
	for _, item := range l.Items {
		n := truth[item.ItemID]
		listed[item.ItemID] = true
		if item.Count < n && len(l.Partial) == 0 || item.Count > n+l.MaxOvercount || item.Lower > n || item.Upper < n {
			require.Fail(t, "a claim is false", "%+v of a list with max_overcount %d: the truth is %d", item, l.MaxOvercount, n)
		}
	}
	ids := slices.Collect(maps.Keys(truth))
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(cmp.Compare(truth[b], truth[a]), cmp.Compare(a, b))
	})
	for _, id := range ids {
		if !listed[id] && truth[id] > l.Floor {
			require.Fail(t, "the floor is false", "%s has %d views, the floor is %d", id, truth[id], l.Floor)
		}
	}
	for _, k := range []int{1, 10, 100, 1000} {
		cut := l.Cut(k)
		if !cut.Certified {
			continue
		}
		require.Len(t, cut.Items, min(k, len(ids)), "certified to %d", k)
		belong := map[string]bool{}
		for _, id := range ids[:len(cut.Items)] {
			belong[id] = true
		}
		for _, item := range cut.Items {
			require.True(t, belong[item.ItemID], "certified to %d, but %s does not belong", k, item.ItemID)
		}
	}
}

// A stream leaves a state for every 10 seconds of every block that it arrives in: 1 to 1,000 of them.
var streams = []stream{
	{seed: 1, skew: 0, items: 1, events: 500, blocks: 1, length: 10},
	{seed: 2, skew: 0, items: 50_000, events: 30_000, blocks: 1, length: 60},
	{seed: 3, skew: 0.5, items: 20_000, events: 30_000, blocks: 3, length: 100, duplicates: 0.02},
	{seed: 4, skew: 1, items: 12_000, events: 30_000, blocks: 8, length: 400, duplicates: 0.001, replays: 2},
	{seed: 5, skew: 1, items: 3_000, events: 20_000, blocks: 6, length: 3700, replays: 1, optimize: true},
	{seed: 6, skew: 1.3, items: 50_000, events: 40_000, blocks: 5, length: 90, optimize: true},
	{seed: 7, skew: 1.7, items: 5_000, events: 20_000, blocks: 8, length: 700, duplicates: 0.3},
	{seed: 8, skew: 2, items: 50_000, events: 30_000, blocks: 4, length: 3000, duplicates: 0.01, anywhere: true},
	{seed: 9, skew: 1.1, items: 30, events: 10_000, blocks: 3, length: 3500, anywhere: true},
}

// randomStream is another one at each run. TOPK_TEST_SEED repeats one, whose seed is in the name of its test.
func randomStream(t *testing.T) stream {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv("TOPK_TEST_SEED"); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
	}
	r := rand.New(rand.NewPCG(seed, 0))
	return stream{seed: seed, skew: 2 * r.Float64(), items: 1 + r.IntN(20_000), events: 1 + r.IntN(20_000), blocks: 1 + r.IntN(8), length: 10 + r.IntN(600),
		duplicates: 0.1 * float64(r.IntN(3)), replays: r.IntN(2), optimize: r.IntN(2) == 0, anywhere: r.IntN(2) == 0}
}

func testClaims(t *testing.T, e *engines) {
	sawEstimate := 0
	for _, s := range append(streams, randomStream(t)) {
		t.Run(fmt.Sprintf("seed %d, skew %.1f, %d items, %d blocks", s.seed, s.skew, s.items, s.blocks), func(t *testing.T) {
			t.Logf("to repeat it: %+v", s)
			start := e.newDay().Add(90 * time.Minute)
			a := s.make(e, "video", start)
			a.arrive(t, e, s, 2)
			exact, sketches := e.builder(), e.builder(func(c *BuilderConfig) { c.VerifyTimeout = time.Nanosecond })
			asOf := start.Add(time.Duration(s.length-s.length/9) * time.Second)
			before, truths := map[string]string{}, map[string]map[string]uint64{}
			for _, w := range list.Live {
				truth := a.truth(asOf.Add(-w.Length), asOf)
				truths[w.Name] = truth
				l := build(t, exact, w.Name, "video", asOf)
				require.Equal(t, list.MethodVerified, l.Method)
				if s.duplicates == 0 {
					require.Zero(t, l.MaxOvercount, "nothing was sent twice, replays or not")
				}
				requireClaims(t, l, truth)
				before[w.Name] = show(l)
				l = build(t, sketches, w.Name, "video", asOf)
				require.Equal(t, list.MethodEstimated, l.Method)
				requireClaims(t, l, truth)
				sawEstimate++
				for _, limit := range []uint64{1, uint64(s.events / 2)} { // beyond it repeats are counted second by second
					l = build(t, e.builder(func(c *BuilderConfig) { c.DuplicateRows = limit }), w.Name, "video", asOf)
					if s.duplicates == 0 {
						require.Zero(t, l.MaxOvercount, "nothing was sent twice, replays or not")
					}
					requireClaims(t, l, truth)
				}
			}
			// Combined summaries, merged parts and sketches of some of the minutes change no list.
			rollAll(t, newRoller(e.conn), start.Add(time.Duration(s.length/2)*time.Second))
			for _, g := range grains {
				for done := 1; done > 0; {
					var err error
					done, err = compact(t.Context(), e.conn, g, asOf)
					require.NoError(t, err)
				}
				for _, w := range list.Live {
					l := build(t, exact, w.Name, "video", asOf)
					requireClaims(t, l, truths[w.Name])
					require.Equal(t, before[w.Name], show(l), "after combining into %s", g.table)
					requireClaims(t, build(t, sketches, w.Name, "video", asOf), truths[w.Name])
				}
			}
		})
	}
	require.Positive(t, sawEstimate)
}

// The same messages in another order give the same list, item for item.
func testOrderChangesNothing(t *testing.T, e *engines) {
	s := stream{seed: 11, skew: 0.8, items: 9_000, events: 10_000, blocks: 6, length: 400, duplicates: 0.01}
	var lists []string
	for order := range uint64(3) {
		s.optimize, s.replays = order == 1, int(order)
		start := e.newDay()
		a := s.make(e, "video", start)
		a.arrive(t, e, s, 100+order)
		text := ""
		for _, w := range list.Live {
			text += show(build(t, e.builder(), w.Name, "video", start.Add(371*time.Second)))
		}
		lists = append(lists, text)
	}
	require.Equal(t, lists[0], lists[1])
	require.Equal(t, lists[0], lists[2])
}
