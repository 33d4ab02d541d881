package grades

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"topk/internal/grade"
	"topk/internal/list"
	"topk/rollups/recount"
)

// position is an item of a list, and its exact views.
type position struct {
	count, exact uint64
}

// compare is a list of the rows in their order, measured against them and against further items that the list does not name.
func compare(bound uint64, rows []position, unlisted ...uint64) *grade.Measures {
	l := &list.List{Window: "1h", Method: list.MethodVerified, MaxOvercount: bound}
	t := truth{counts: map[string]uint64{}}
	views := unlisted
	for i, r := range rows {
		id := fmt.Sprint("i", i)
		l.Items = append(l.Items, list.Item{Position: i + 1, ItemID: id, Count: r.count})
		if r.exact > 0 {
			t.counts[id] = r.exact
			views = append(views, r.exact)
		}
	}
	t.levels = levelsOf(views)
	return measure(l, t)
}

func levelsOf(views []uint64) []recount.Level {
	items := map[uint64]uint64{}
	most := uint64(0)
	for _, v := range views {
		items[v]++
		most = max(most, v)
	}
	var levels []recount.Level
	for v := most; v > 0; v-- {
		if items[v] > 0 {
			levels = append(levels, recount.Level{Views: v, Items: items[v]})
		}
	}
	return levels
}

// equal are n rows that count exactly.
func equal(n int, first, step uint64) []position {
	rows := make([]position, n)
	for i := range rows {
		views := first - uint64(i)*step
		rows[i] = position{views, views}
	}
	return rows
}

func repeat(n int, views uint64) []uint64 {
	all := make([]uint64, n)
	for i := range all {
		all[i] = views
	}
	return all
}

func TestMeasures(t *testing.T) {
	swapped := equal(100, 1000, 1)
	swapped[0], swapped[60] = swapped[60], swapped[0]
	missed := equal(100, 1000, 1)
	missed[10].exact, missed[20].exact = 5, 0
	for _, test := range []struct {
		name         string
		bound        uint64
		rows         []position
		unlisted     []uint64
		recall100    float64
		recall1000   float64
		shared       float64
		overcount    uint64
		displacement uint64
	}{
		{name: "nothing, and rightly", recall100: 1, recall1000: 1, shared: 1},
		{name: "nothing, wrongly", unlisted: []uint64{3, 2}},
		{name: "an item that nobody viewed", rows: []position{{4, 0}}, recall100: 1, recall1000: 1, overcount: 4},
		{name: "exact", rows: equal(1000, 5000, 2), unlisted: repeat(50, 3000), recall100: 1, recall1000: 1, shared: 1},
		{name: "fewer than k in all", rows: equal(7, 100, 3), recall100: 1, recall1000: 1, shared: 1},
		{name: "a short list", rows: equal(10, 100, 1), unlisted: repeat(10, 5), recall100: .5, recall1000: .5, shared: 1},
		{name: "ties at the last position", rows: equal(100, 50, 0), unlisted: repeat(400, 50), recall100: 1, recall1000: .2, shared: 1},
		{name: "behind ties at the last position", rows: append(equal(99, 50, 0), position{49, 49}), unlisted: repeat(1, 50),
			recall100: .99, recall1000: 100. / 101, shared: .99, displacement: 1},
		{name: "ties in another order", rows: []position{{9, 9}, {5, 5}, {7, 5}, {5, 5}, {1, 1}}, recall100: 1, recall1000: 1, shared: 1, overcount: 2},
		{name: "the nearest of equal places counts", rows: []position{{9, 5}, {5, 9}, {5, 5}, {5, 5}}, recall100: 1, recall1000: 1, shared: 1, overcount: 4, displacement: 1},
		{name: "far from where they belong", rows: swapped, recall100: 1, recall1000: 1, shared: 1, displacement: 60},
		{name: "two are wrong", rows: missed, unlisted: repeat(200, 901), recall100: .98, recall1000: 99. / 299, shared: .98,
			overcount: 985, displacement: 299 - 11},
		{name: "undercounted by late events", rows: []position{{9, 12}, {8, 8}}, recall100: 1, recall1000: 1, shared: 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := compare(test.bound, test.rows, test.unlisted...)
			require.InDelta(t, test.recall100, m.Recall100, 1e-9, "recall at 100")
			require.InDelta(t, test.recall1000, m.Recall1000, 1e-9, "recall at 1,000")
			require.InDelta(t, test.shared, m.Shared100, 1e-9, "shared")
			require.Equal(t, test.overcount, m.Overcount, "over-count")
			require.Equal(t, test.displacement, m.Displacement, "displacement")
			require.Equal(t, len(test.rows), m.Items)
		})
	}
}

// Only what stands behind position 1,000 escapes recall; a count there is judged like any other.
func TestEveryPositionIsHeldToTheBound(t *testing.T) {
	rows := equal(1100, 5000, 1)
	rows[1099].count += 7
	m := compare(6, rows)
	require.Equal(t, []uint64{7, 6}, []uint64{m.Overcount, m.MaxOvercount})
	require.True(t, m.BoundExceeded())
	require.False(t, compare(7, rows).BoundExceeded())
	require.Equal(t, 1.0, m.Recall1000)
}

// Items that a list leaves out for too few viewers are in the exact top, and are no fault of the list.
func TestItemsLeftOutAreNoFault(t *testing.T) {
	rows := equal(50, 1000, 1)
	l := &list.List{Window: "1h", MinViewers: 10, Hidden: 3}
	exact := truth{counts: map[string]uint64{}}
	views := []uint64{9000, 8000, 7000}
	for n := range uint64(5000) {
		views = append(views, 1+n%9) // too few views to have enough viewers
	}
	for i, r := range rows {
		id := fmt.Sprint("i", i)
		l.Items = append(l.Items, list.Item{Position: i + 1, ItemID: id, Count: r.count})
		exact.counts[id] = r.exact
		views = append(views, r.exact)
	}
	exact.levels = levelsOf(views)
	m := measure(l, exact)
	require.Equal(t, []float64{1, 1}, []float64{m.Recall100, m.Recall1000})
	require.Zero(t, m.Displacement)
	l.MinViewers, l.Hidden = 0, 0
	m = measure(l, exact)
	require.Less(t, m.Recall100, 0.6)
	require.Equal(t, uint64(3), m.Displacement)
}
