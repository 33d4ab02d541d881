package slices

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/list"
)

// refill fills everything anew.
func (e *engine) refill(t *testing.T, c Config) {
	t.Helper()
	for _, table := range []string{"slice_heads", "slice_minutes", "filled_minutes"} {
		e.Query(t, "TRUNCATE TABLE topk."+table)
	}
	fillAll(t, NewFiller(e.conn, c))
}

// fits says whether no slice of a union has more items in a closed hour of the reach, or in a minute since, than are kept.
func (e *engine) fits(u Union, keep int) bool {
	type row struct {
		slice string
		at    time.Time
		open  bool
	}
	held := map[row]map[string]bool{}
	for _, v := range e.views {
		for _, name := range u.Members {
			if !v.in(name) || v.at.Before(noon.Add(-list.TrendReach)) {
				continue
			}
			r := row{name, v.at.Truncate(time.Hour), false}
			if !v.at.Before(noon.Add(-time.Hour)) {
				r = row{name, v.at.Truncate(time.Minute), true}
			}
			if held[r] == nil {
				held[r] = map[string]bool{}
			}
			if held[r][v.id] = true; len(held[r]) > keep {
				return false
			}
		}
	}
	return true
}

// checkTrends fails when a score, or what it is made of, is more than in truth, or what an item may have is less.
func checkTrends(t *testing.T, l *list.List, found map[string]*parts, floor float64) {
	t.Helper()
	const rounding = 1 + 1e-9
	for _, item := range l.Items {
		p, what := found[item.ItemID], item.ItemID+" of "+l.Slice
		require.NotNil(t, p, what)
		require.LessOrEqual(t, item.Trend.Fast, p.fast*rounding, what)
		require.GreaterOrEqual(t, item.Trend.Slow*rounding, p.slow, what)
		require.LessOrEqual(t, item.Trend.Velocity, list.TrendVelocity(p.fast, p.slow, floor)*rounding, what)
		require.False(t, item.Trend.FirstSeen.After(p.first), what)
		require.LessOrEqual(t, item.Trend.Score, list.TrendScore(p.fast, p.slow, floor, p.views, noon.Sub(p.first))*rounding, what)
		require.LessOrEqual(t, item.Trend.Views, p.views, what)
		require.LessOrEqual(t, item.Lower, p.views, what)
		require.GreaterOrEqual(t, item.Upper, p.views, what)
		require.LessOrEqual(t, item.Count, p.views+l.MaxOvercount, what)
	}
}

// testTrendsLeftOut: what was left out of a minute or an hour may have been any item's.
func testTrendsLeftOut(t *testing.T, e *engine) {
	var open, closed []view
	add := func(id, category string, i int, n uint64) {
		open = append(open, view{"video", id, "DE", category, "de", noon.Add(-time.Duration(1+i) * time.Minute), n})
		closed = append(closed, view{"video", id, "DE", category, "de", noon.Add(-time.Duration(2+i) * time.Hour), n})
	}
	for i := range 40 { // more categories than are kept, one more viewed in each minute and hour
		for j := range 10 {
			add(fmt.Sprint("j", j), fmt.Sprint("c", j), i, uint64(1+j))
		}
		add(fmt.Sprint("i", i%20), fmt.Sprint("c", i%10), i, uint64(10+i))
	}
	e.both(t, open...)
	e.counted(t, closed...)
	e.views = append(e.views, closed...)
	c := config(func(c *Config) { c.Slices, c.TrendFloor = 6, 1 })
	fillAll(t, NewFiller(e.conn, c))
	unions := append(one("category=c9", "category=c0", "category=c5", "country=DE", "category=none"),
		Union{"category=c0|c1|c9", []string{"category=c0", "category=c1", "category=c9"}})
	for i, l := range e.trends(t, c, 100, unions...) {
		u := append([]Union{{Name: list.GlobalSlice}}, unions...)[i]
		checkTrends(t, l, e.trendParts("video", u, noon.Add(-time.Hour)), c.TrendFloor)
		known := slices.Contains([]string{list.GlobalSlice, "country=DE", "category=c9", "category=c5"}, l.Slice)
		require.Equal(t, known, l.Certified, l.Slice)
		require.Equal(t, known, l.Method == list.MethodVerified, l.Slice)
		require.Equal(t, l.Slice == "category=none", len(l.Items) == 0, l.Slice)
		require.Equal(t, l.Slice == "category=none", l.Reason != "", l.Slice)
	}
}

// testTrendsOfLanguages: all views are put together from a thousand languages at the most.
func testTrendsOfLanguages(t *testing.T, e *engine) {
	var views []view
	for i := range maxLanguages {
		views = append(views, view{"video", fmt.Sprint("i", i%100), "DE", "news", fmt.Sprint("l", i), noon.Add(-time.Duration(1+i%50) * time.Minute), 2})
	}
	e.both(t, views...)
	c := config()
	fillAll(t, NewFiller(e.conn, c))
	l := e.trends(t, c, 100)[0]
	require.Equal(t, uint64(2*maxLanguages), l.Total)
	require.True(t, l.Certified)
	require.False(t, l.More)
	require.Equal(t, list.MethodVerified, l.Method)
	l = e.trends(t, c, 99)[0]
	require.True(t, l.More, "a hundred items were viewed")
	require.False(t, l.CertifiedTo(100))
	require.True(t, l.CertifiedTo(99))
	e.both(t, view{"video", "one more", "DE", "news", "l", noon.Add(-30 * time.Minute), 2})
	fillAll(t, NewFiller(e.conn, c))
	l = e.trends(t, c, 100)[0]
	require.False(t, l.Certified)
	require.Equal(t, list.MethodEstimated, l.Method)
}
