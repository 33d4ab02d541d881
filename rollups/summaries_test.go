package rollups

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/list"
	"topk/internal/wire"
)

// What a builder remembers of summaries is what ClickHouse adds up from all of them, wherever the window slides, whatever comes late,
// and whichever depth is read.
func testRememberedSummariesAreTheSums(t *testing.T, e *engines) {
	random := rand.New(rand.NewPCG(1, 2))
	start := e.newDay().Add(time.Hour)
	types := []string{"film", "song"}
	land := func(second int) {
		var rows []count
		for range 300 {
			id := fmt.Sprint(int(60 * random.ExpFloat64()))
			rows = append(rows, count{types[random.IntN(2)], id, "IN", start.Add(time.Duration(second) * time.Second), 1 + random.Uint64N(9)})
		}
		e.land(t, wire.CountsTopic, e.message(rows...))
	}
	sameAsSums := func(s *summaries, asOf time.Time, depth int) {
		t.Helper()
		w := window(t, "1m")
		q := question{window: w, from: asOf.Add(-w.Length), asOf: asOf, types: types}
		const most = 100
		want, err := addUp(t.Context(), e.conn, q, nil, depth, most)
		require.NoError(t, err)
		fits, err := s.slide(t.Context(), e.conn, q, depth)
		require.NoError(t, err)
		require.True(t, fits)
		got := s.nominations(q, most)
		for _, n := range got {
			n.once = false // ClickHouse does not tell
		}
		require.Equal(t, want, got)
	}
	s := newSummaries()
	for second := 0; second < 100; second += 1 + random.IntN(9) {
		land(second)
		if second > 30 && random.IntN(3) == 0 {
			land(second - 30)
		}
		depth := 50
		if second > 70 {
			depth = whole
		}
		sameAsSums(s, start.Add(time.Duration(second+1)*time.Second), depth)
	}
	require.NotEmpty(t, s.sums)
	sameAsSums(s, start.Add(20*time.Second), whole)
	sameAsSums(s, start.Add(20*time.Minute), whole)
	require.Empty(t, s.sums, "what has left the window is forgotten")
	require.Empty(t, s.floors)
	require.Empty(t, s.blocks)
}

func TestMoreSummariesThanAreRemembered(t *testing.T) {
	e := startEngines(t)
	at := e.newDay()
	e.Query(t, fmt.Sprintf(`INSERT INTO topk.topk_10s (item_type, slice, bucket, block, items, floor, applied)
		SELECT 'video', '%s', '%s', number, arrayMap(n -> (toString(n), 9, 0), range(2000)), 1, 18000 FROM numbers(600)`,
		list.GlobalSlice, at.Format(time.DateTime)))
	b := e.builder()
	q := question{window: window(t, "1m"), from: at, asOf: at.Add(time.Minute), types: []string{"video"}}
	named, err := b.bounds(t.Context(), q, shallow)
	require.NoError(t, err)
	require.Len(t, named["video"].items, 2000)
	require.Equal(t, nominee{id: "0", upper: 5400, lower: 5400}, named["video"].items[slices.IndexFunc(named["video"].items, func(n nominee) bool { return n.id == "0" })])
	require.Empty(t, b.summaries.blocks)
}
