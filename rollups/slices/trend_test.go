package slices

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/list"
)

// parts are what a score is made of, reckoned from views by hand: those of closed hours decay from the start of the hour, others from the start
// of the minute.
type parts struct {
	fast, slow float64
	views      uint64
	first      time.Time
}

func (e *engine) trendParts(itemType string, u Union, closedUntil time.Time) map[string]*parts {
	found := map[string]*parts{}
	for _, v := range e.views {
		if v.itemType != itemType || u.Name != list.GlobalSlice && !slices.ContainsFunc(u.Members, v.in) || v.at.Before(noon.Add(-list.TrendReach)) {
			continue
		}
		at := v.at.Truncate(time.Minute)
		if at.Before(closedUntil) {
			at = v.at.Truncate(time.Hour)
		}
		p := found[v.id]
		if p == nil {
			p = &parts{first: at}
			found[v.id] = p
		}
		age := noon.Sub(at).Hours()
		p.fast += float64(v.n) * math.Pow(2, -age)
		p.slow += float64(v.n) * math.Pow(2, -age/24)
		if age <= 1 {
			p.views += v.n
		}
		if at.Before(p.first) {
			p.first = at
		}
	}
	return found
}

// ranked are the items with views in the last hour, by their scores.
func ranked(found map[string]*parts, floor float64) (ids []string, scores []float64) {
	type scored struct {
		id    string
		score float64
	}
	var all []scored
	for id, p := range found {
		if p.views > 0 {
			all = append(all, scored{id, list.TrendScore(p.fast, p.slow, floor, p.views, noon.Sub(p.first))})
		}
	}
	slices.SortFunc(all, func(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id)) })
	for _, one := range all {
		ids, scores = append(ids, one.id), append(scores, one.score)
	}
	return ids, scores
}

func (e *engine) trends(t *testing.T, c Config, stored int, unions ...Union) []*list.List {
	t.Helper()
	lists, err := NewBuilder(e.conn, c).Trends(context.Background(), noon, map[string][]Union{"video": unions}, true, stored)
	require.NoError(t, err)
	require.Len(t, lists, len(unions)+1, "and one of all views")
	return lists
}

// testTrends: what SQL adds up equals what is reckoned from the events one by one, to nine digits.
func testTrends(t *testing.T, e *engine) {
	r := rand.New(rand.NewPCG(11, 12))
	e.both(t, history(r, 8, 40, 3000)...)
	recountAll(t, e.recounter(), noon)
	c := config(func(c *Config) { c.TrendFloor = 3 })
	fillAll(t, NewFiller(e.conn, c))
	lists := e.trends(t, c, 1000, wanted...)
	for i, u := range append([]Union{{Name: list.GlobalSlice}}, wanted...) {
		l := lists[i]
		require.Equal(t, u.Name, l.Slice)
		found := e.trendParts("video", u, noon.Add(-time.Hour))
		ids, scores := ranked(found, c.TrendFloor)
		require.NotEmpty(t, ids)
		require.Len(t, l.Items, len(ids))
		require.True(t, l.Certified)
		total := uint64(0)
		for _, p := range found {
			total += p.views
		}
		require.Equal(t, total, l.Total)
		for n, item := range l.Items {
			p := found[item.ItemID]
			require.InEpsilon(t, scores[n], item.Trend.Score, 1e-9, "position %d of %s", n+1, u.Name)
			require.InEpsilon(t, list.TrendScore(p.fast, p.slow, c.TrendFloor, p.views, noon.Sub(p.first)), item.Trend.Score, 1e-9)
			require.InEpsilon(t, p.fast, item.Trend.Fast, 1e-9)
			require.InEpsilon(t, p.slow, item.Trend.Slow, 1e-9)
			require.Equal(t, p.views, item.Trend.Views)
			require.Equal(t, p.first, item.Trend.FirstSeen)
			again := list.TrendScore(item.Trend.Fast, item.Trend.Slow, item.Trend.Floor, item.Trend.Views, l.AsOf.Sub(item.Trend.FirstSeen))
			require.InEpsilon(t, again, item.Trend.Score, 1e-9, "a reader works out the same")
			require.InEpsilon(t, list.TrendVelocity(p.fast, p.slow, c.TrendFloor), item.Trend.Velocity, 1e-9)
		}
	}
	// Of what is cut, a score is never more than it is in truth.
	c = config(func(c *Config) { c.Items, c.TrendFloor = 5, 3 })
	e.Query(t, "TRUNCATE TABLE topk.slice_heads")
	e.Query(t, "TRUNCATE TABLE topk.slice_minutes")
	e.Query(t, "TRUNCATE TABLE topk.filled_minutes")
	fillAll(t, NewFiller(e.conn, c))
	lists = e.trends(t, c, 1000, wanted...)
	for i, u := range append([]Union{{Name: list.GlobalSlice}}, wanted...) {
		found := e.trendParts("video", u, noon.Add(-time.Hour))
		for _, item := range lists[i].Items {
			p := found[item.ItemID]
			require.LessOrEqual(t, item.Trend.Velocity, list.TrendVelocity(p.fast, p.slow, c.TrendFloor)*(1+1e-9))
			require.LessOrEqual(t, item.Trend.Views, p.views)
			require.LessOrEqual(t, item.Lower, p.views)
			require.GreaterOrEqual(t, item.Upper, p.views)
		}
	}
}

// testTrendsRise: what rises comes before what is viewed most every day, and before what goes from 2 views to 200.
func testTrendsRise(t *testing.T, e *engine) {
	var views []view
	add := func(id string, hoursAgo float64, n uint64) {
		views = append(views, view{"video", id, "US", "music", "en", noon.Add(-time.Duration(hoursAgo * float64(time.Hour))), n})
	}
	for hour := range 100 {
		ago := float64(hour) + 0.5
		add("every day", ago, 20_000)
		add("from 500 to 6000", ago, map[bool]uint64{true: 6000, false: 500}[hour < 1])
		add("from 2 to 200", ago, map[bool]uint64{true: 200, false: 2}[hour < 1])
		if hour > 5 {
			add("over", ago, 5000)
		}
	}
	add("new", 0.4, 4000)
	add("over", 0.5, 10)
	e.land(t, 1, views...)
	e.counted(t, views...)
	c := config()
	fillAll(t, NewFiller(e.conn, c))
	lists := e.trends(t, c, 10, one("country=US", "country=US,category=music")...)
	for _, l := range lists {
		var ids []string
		for _, item := range l.Items {
			ids = append(ids, item.ItemID)
		}
		require.Equal(t, []string{"new", "from 500 to 6000", "every day", "from 2 to 200", "over"}, ids, l.Slice)
	}
}
