package slices

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/list"
)

// TestSlices runs every test on one engine, which it empties before.
func TestSlices(t *testing.T) {
	e := startEngine(t)
	for _, test := range []struct {
		name string
		run  func(*testing.T, *engine)
	}{
		{"claims hold for every slice, union and window", testClaims},
		{"countries add up to all", testAdditivity},
		{"what comes late is within the bounds, then counted", testLate},
		{"slices that are left out are within the bounds", testLeftOut},
		{"replays change nothing", testReplays},
		{"items that are followed are in every minute", testFollowed},
		{"repeats are within the bounds", testRepeats},
		{"a minute that is not filled", testNotFilled},
		{"closed hours and days", testClosed},
		{"an old day is corrected", testCorrected},
		{"closed hours that are not filled", testClosedNotFilled},
		{"trends are what events come to", testTrends},
		{"trends of what is left out", testTrendsLeftOut},
		{"trends of many languages", testTrendsOfLanguages},
		{"what rises trends", testTrendsRise},
		{"what is viewed as always tops few views", testTrendsSteady},
		{"a recorded day", testRecordedDay},
		{"a recorded year", testRecordedYear},
		{"the maker publishes and forgets", testMaker},
		{"the maker chooses the busiest", testMakerBusiest},
		{"the maker makes what is asked for", testMakerAsked},
		{"the maker goes on without a window", testMakerGoesOn},
		{"an hour is counted meanwhile", testCountedMeanwhile},
		{"a minute cannot be filled for some time", testFillGoesOn},
		{"item types are made up", testTypes},
		{"viewers are asked for and nobody views", testScreenedSilence},
		{"a round is cut off", testMakerStops},
	} {
		t.Run(test.name, func(t *testing.T) {
			e.clear(t)
			test.run(t, e)
		})
	}
}

func config(change ...func(*Config)) Config {
	c := DefaultConfig()
	c.Loose, c.CountBudget = 100_000, time.Minute
	for _, f := range change {
		f(&c)
	}
	return c
}

// filled returns a builder after everything has been filled.
func (e *engine) filled(t testing.TB, c Config) *Builder {
	t.Helper()
	f := NewFiller(e.conn, c)
	_, err := f.Fill(context.Background(), noon.Add(-time.Hour), noon)
	require.NoError(t, err)
	return NewBuilder(e.conn, c)
}

func (e *engine) build(t testing.TB, b *Builder, name string, stored int, unions ...Union) []*list.List {
	t.Helper()
	made, err := b.Build(context.Background(), window(t, name), noon, map[string][]Union{"video": unions}, stored)
	require.NoError(t, err)
	require.Len(t, made.Lists, len(unions))
	return made.Lists
}

var (
	eu     = Union{"country=DE|FR|IT", []string{"country=DE", "country=FR", "country=IT"}}
	wanted = append(one("country=DE", "country=", "category=a%2Cb", "category=50%25%7C%252C", "language=hi", "language=",
		"country=IN,category=music", "country=US,language=en", "country=,category="), eu,
		Union{"country=FR|IN,category=news", []string{"country=FR,category=news", "country=IN,category=news"}})
)

func testClaims(t *testing.T, e *engine) {
	for seed := range uint64(3) {
		e.clear(t)
		r := rand.New(rand.NewPCG(seed, 4))
		items := []int{30, 300, 2000}[seed]
		for range 30 {
			views := make([]view, 200)
			for i := range views {
				views[i] = random(r, items)
			}
			e.land(t, 1, views...)
			e.landEvents(t, views...)
		}
		keep := []int{1000, 8, 2}[seed]
		b := e.filled(t, config(func(c *Config) { c.Items = keep }))
		for _, name := range []string{"1m", "5m", "1h"} {
			for _, stored := range []int{5, 100} {
				for i, l := range e.build(t, b, name, stored, wanted...) {
					truth := e.truth("video", wanted[i], l.From, l.AsOf)
					checkClaims(t, l, truth)
					require.Equal(t, list.MethodVerified, l.Method)
					require.Zero(t, l.MaxOvercount, "every event was sent once")
					require.LessOrEqual(t, len(l.Items), stored)
					total := uint64(0)
					for _, n := range truth {
						total += n
					}
					require.Equal(t, total, l.Total)
					for _, item := range l.Items {
						require.Equal(t, truth[item.ItemID], item.Count, "%s of %s %s", item.ItemID, l.Slice, l.Window)
					}
					if seed == 0 && len(truth) <= stored {
						require.True(t, l.Certified, "everything is in the minutes")
						require.Equal(t, len(truth), len(l.Items))
					}
				}
			}
		}
	}
}

// All countries, and those views that have none, are all views.
func testAdditivity(t *testing.T, e *engine) {
	r := rand.New(rand.NewPCG(9, 9))
	views := make([]view, 3000)
	for i := range views {
		views[i] = random(r, 500)
	}
	e.land(t, 1, views...)
	e.landEvents(t, views...)
	b := e.filled(t, config())
	truth := map[string]uint64{}
	for _, v := range e.views {
		truth[v.id] += v.n
	}
	for dimension, values := range map[string][]string{"country": countries, "category": categoryNames, "language": languages} {
		all := Union{Name: "all"}
		for _, value := range values {
			all.Members = append(all.Members, dimension+"="+value)
		}
		l := e.build(t, b, "1h", 1000, all)[0]
		require.Equal(t, len(truth), len(l.Items))
		for _, item := range l.Items {
			require.Equal(t, truth[item.ItemID], item.Count)
		}
	}
}

// categoryNames are the categories as names of slices write them.
var categoryNames = []string{"music", "news", "a%2Cb", "50%25%7C%252C", "фильм", ""}

func testLate(t *testing.T, e *engine) {
	at := noon.Add(-30 * time.Minute)
	first := view{"video", "old", "DE", "news", "de", at, 10}
	e.land(t, 1, first)
	e.landEvents(t, first)
	c := config()
	b := e.filled(t, c)
	late := view{"video", "late", "DE", "news", "de", at, 7}
	e.land(t, 1, late)
	e.landEvents(t, late)
	l := e.build(t, b, "1h", 10, one("country=DE")...)[0]
	checkClaims(t, l, e.truth("video", one("country=DE")[0], l.From, l.AsOf))
	require.False(t, l.CertifiedTo(2), "the late one could be anything")
	require.True(t, l.CertifiedTo(1))
	filler := NewFiller(e.conn, c)
	n, err := filler.Fill(context.Background(), noon.Add(-time.Hour), noon)
	require.NoError(t, err)
	require.Equal(t, 1, n, "the minute is filled again")
	l = e.build(t, b, "1h", 10, one("country=DE")...)[0]
	require.Len(t, l.Items, 2)
	require.Equal(t, uint64(7), l.Items[1].Count)
	require.True(t, l.Certified)
	n, err = filler.Fill(context.Background(), noon.Add(-time.Hour), noon)
	require.NoError(t, err)
	require.Zero(t, n, "nothing has changed")
}

func testLeftOut(t *testing.T, e *engine) {
	var views []view
	for i := range 40 { // more categories than are kept, each in a minute of its own and one in all
		views = append(views, view{"video", fmt.Sprint("i", i), "DE", fmt.Sprint("c", i%10), "de", noon.Add(-time.Duration(1+i) * time.Minute), uint64(1 + i)})
		for j := range 10 {
			views = append(views, view{"video", fmt.Sprint("j", j), "DE", fmt.Sprint("c", j), "de", noon.Add(-time.Duration(1+i) * time.Minute), uint64(1 + j)})
		}
	}
	e.land(t, 1, views...)
	e.landEvents(t, views...)
	b := e.filled(t, config(func(c *Config) { c.Slices = 6 }))
	unions := one("category=c9", "category=c0", "category=c5", "country=DE", "category=none")
	for i, l := range e.build(t, b, "1h", 10, unions...) {
		checkClaims(t, l, e.truth("video", unions[i], l.From, l.AsOf))
		if l.Slice == "category=c0" || l.Slice == "category=none" {
			require.Equal(t, list.MethodEstimated, l.Method, l.Slice)
			require.False(t, l.Certified, l.Slice)
		}
		if l.Slice == "country=DE" {
			require.Equal(t, list.MethodVerified, l.Method, "countries are kept before all others")
		}
	}
	// An item may have what was left out in each slice of a union.
	e.clear(t)
	views = nil
	for i := range 10 {
		views = append(views, view{"video", "x", "DE", fmt.Sprint("c", i), "de", noon.Add(-30 * time.Second), 10})
	}
	e.land(t, 1, views...)
	e.landEvents(t, views...)
	b = e.filled(t, config(func(c *Config) { c.Slices = 6 }))
	u := Union{"category=c7|c8|c9", []string{"category=c7", "category=c8", "category=c9"}}
	checkClaims(t, e.build(t, b, "1m", 10, u)[0], e.truth("video", u, noon.Add(-time.Minute), noon))
}

func testReplays(t *testing.T, e *engine) {
	r := rand.New(rand.NewPCG(5, 5))
	for n := range 10 {
		views := make([]view, 100)
		for i := range views {
			views[i] = random(r, 300)
		}
		e.land(t, 1+n%3, views...)
		e.landEvents(t, views...)
	}
	b := e.filled(t, config(func(c *Config) { c.Items = 5 }))
	for i, l := range e.build(t, b, "1h", 20, wanted...) {
		truth := e.truth("video", wanted[i], l.From, l.AsOf)
		checkClaims(t, l, truth)
		total := uint64(0)
		for _, n := range truth {
			total += n
		}
		require.Equal(t, total, l.Total)
	}
}

// An item that was in a list is in the minutes that are filled afterwards, also with fewer views than all others, and none.
func testFollowed(t *testing.T, e *engine) {
	for n := range 10 {
		at := noon.Add(-time.Duration(10-n) * time.Minute)
		views := []view{{"video", "small", "DE", "news", "de", at, 1}}
		if n >= 5 {
			views = nil
		}
		for i := range 8 {
			views = append(views, view{"video", fmt.Sprint("i", n, i), "DE", "news", "de", at, 2})
		}
		if n == 0 {
			views[0].n = 50
		}
		e.land(t, 1, views...)
		e.landEvents(t, views...)
	}
	c := config(func(c *Config) { c.Items, c.Loose = 4, 0 })
	f, b := NewFiller(e.conn, c), NewBuilder(e.conn, c)
	unions := map[string][]Union{"video": one("country=DE", "country=DE,category=news", "language=de")}
	for n := range 10 {
		until := noon.Add(-time.Duration(9-n) * time.Minute)
		_, err := f.Fill(context.Background(), until.Add(-time.Minute), until)
		require.NoError(t, err)
		made, err := b.Build(context.Background(), list.Window{Name: "5m", Length: time.Duration(n+1) * time.Minute}, until, unions, 3)
		require.NoError(t, err)
		for _, l := range made.Lists {
			truth := e.truth("video", one(l.Slice)[0], l.From, l.AsOf)
			checkClaims(t, l, truth)
			require.Equal(t, "small", l.Items[0].ItemID)
			require.Equal(t, truth["small"], l.Items[0].Count)
			require.Equal(t, l.Items[0].Count, l.Items[0].Lower, "it is counted exactly, by the minutes alone")
		}
		require.NoError(t, f.Follow(context.Background(), made))
	}
}

func testRepeats(t *testing.T, e *engine) {
	sent := view{"video", "a", "DE", "news", "de", noon.Add(-90 * time.Second), 10}
	e.land(t, 1, sent)
	e.landEvents(t, view{"video", "a", "DE", "news", "de", sent.at, 6}) // four of the ten were sent before
	b := e.filled(t, config())
	for _, c := range []Config{config(), config(func(c *Config) { c.DistinctRows = 0 })} {
		b.config = c
		l := e.build(t, b, "5m", 10, one("country=DE")...)[0]
		require.Equal(t, uint64(10), l.Items[0].Count)
		require.Equal(t, uint64(6), l.Items[0].Lower)
		require.Equal(t, uint64(4), l.MaxOvercount)
	}
}

func testNotFilled(t *testing.T, e *engine) {
	b := e.filled(t, config())
	sent := view{"video", "a", "DE", "news", "de", noon.Add(-90 * time.Second), 10}
	e.land(t, 1, sent)
	_, err := b.Build(context.Background(), window(t, "5m"), noon, map[string][]Union{"video": one("country=DE")}, 10)
	require.ErrorIs(t, err, ErrNotFilled)
	l := e.build(t, b, "1m", 10, one("country=DE")...)[0]
	require.Empty(t, l.Items)
	require.True(t, l.Certified)
	require.NotEmpty(t, l.Reason)
	horizon, err := ReadHorizon(context.Background(), e.conn, config())
	require.NoError(t, err)
	require.Equal(t, noon, horizon)
}
