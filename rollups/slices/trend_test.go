package slices

import (
	"cmp"
	"context"
	"fmt"
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
	// Of what is cut, a score is never more than it is in truth, and a list is certified only where nothing was cut.
	c = config(func(c *Config) { c.Items, c.TrendFloor = 5, 3 })
	e.refill(t, c)
	certified := map[bool]int{}
	for i, l := range e.trends(t, c, 1000, wanted...) {
		u := append([]Union{{list.GlobalSlice, []string{"language=de", "language=en", "language=hi", "language="}}}, wanted...)[i]
		checkTrends(t, l, e.trendParts("video", u, noon.Add(-time.Hour)), c.TrendFloor)
		require.Equal(t, list.MethodVerified, l.Method, "no slice was left out")
		require.Equal(t, e.fits(u, c.Items), l.Certified, l.Slice)
		certified[l.Certified]++
	}
	require.NotZero(t, certified[true])
	require.NotZero(t, certified[false])
	// What comes late for a closed hour is in no score yet.
	late := view{"video", "late", "DE", "news", "de", noon.Add(-74 * time.Hour), 5}
	e.both(t, late)
	for _, l := range e.trends(t, c, 1000, wanted...) {
		require.Equal(t, []string{late.at.Truncate(time.Hour).Format(time.RFC3339)}, l.Partial)
		require.False(t, l.Certified)
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

// testTrendsSteady: 2 views an hour that become 200 come after a hit that is viewed as always, however large it is, where nothing else rises, also
// when all of them came in the last minute, and where 2 views were never among those kept.
func testTrendsSteady(t *testing.T, e *engine) {
	hits := map[string]uint64{"DE": 1000, "FR": 5000, "IT": 20_000}
	var views []view
	for country, rate := range hits {
		add := func(id string, at time.Time, n uint64) {
			views = append(views, view{"video", id, country, "music", "en", at, n})
		}
		for minute := range 60 {
			add("hit", noon.Add(-time.Duration(1+minute)*time.Minute), rate/60)
		}
		for hour := range 7 * 24 {
			at := noon.Add(-time.Duration(1+hour) * time.Hour)
			if hour > 0 {
				add("hit", at, rate)
			}
			add("from 2 to 200", at, 2)
			for other := range 10 {
				add(fmt.Sprint("other ", other), at, uint64(50+other))
			}
		}
		add("from 2 to 200", noon.Add(-time.Minute), 198)
		add("from 0 to 200", noon.Add(-time.Minute), 200)
	}
	e.land(t, 1, slices.DeleteFunc(slices.Clone(views), func(v view) bool { return v.at.Before(noon.Add(-time.Hour)) })...)
	e.views = views
	e.counted(t, views...)
	for _, items := range []int{1000, 5} {
		c := config(func(c *Config) { c.Items = items })
		e.refill(t, c)
		for _, l := range e.trends(t, c, 20, one("country=DE", "country=FR", "country=IT")...)[1:] {
			first := e.trendParts("video", one(l.Slice)[0], noon.Add(-time.Hour))
			checkTrends(t, l, first, c.TrendFloor)
			require.Equal(t, "hit", l.Items[0].ItemID, l.Slice)
			require.GreaterOrEqual(t, l.Items[0].Trend.Score, 1.3*l.Items[1].Trend.Score, "%s: %s", l.Slice, l.Items[1].ItemID)
			rose := slices.IndexFunc(l.Items, func(item list.Item) bool { return item.ItemID == "from 2 to 200" })
			require.Positive(t, rose, "it is there")
			require.Equal(t, items == 5, l.Items[rose].Trend.Views < 200, "of the first minute it is left out")
		}
	}
}
