package slices

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"topk/internal/list"
	"topk/rollups/viewers"
)

// testMakerAsked: what trends is made where it is asked for, and what nobody can publish keeps nothing else from being made.
func testMakerAsked(t *testing.T, e *engine) {
	p := startLists(t)
	ctx := context.Background()
	m := NewMaker(e.conn, config(), quiet(), prometheus.NewRegistry())
	e.land(t, 1, view{"video", "a", "DE", "music", "de", noon.Add(-30 * time.Second), 3}, view{"video", "b", "FR", "music", "fr", noon.Add(-90 * time.Second), 2})
	long := "category=music|" + strings.Repeat("x", 1000)
	for _, asked := range [][2]string{{list.TrendingWindow, "country=DE|FR"}, {"1h", long}, {"1h", "country="}, {"1h", "no slice"}, {"5m", "country=DE|FR"}} {
		p.exec(t, "INSERT INTO asked_slices VALUES ('video', $1, $2, now())", asked[0], asked[1])
	}
	require.NoError(t, m.Round(ctx, p.do, noon, allKept))
	found := p.current(t)
	trending := found[list.Key{ItemType: "video", Window: list.TrendingWindow, Slice: "country=DE|FR"}]
	require.NotNil(t, trending, "asked for, and made")
	require.Len(t, trending.Items, 2)
	require.NotNil(t, found[list.Key{ItemType: "video", Window: "5m", Slice: "country=DE|FR"}])
	for key := range found {
		require.LessOrEqual(t, len(key.Slice), list.MaxStoredSlice)
	}

	// A round has so much time for what is asked for. What is left over is served no more, so it is made on demand.
	r := &round{Maker: m, db: p.do, asOf: noon, kept: allKept, stay: map[string]bool{}}
	busiest, asked, err := m.choose(ctx, p.do, noon)
	require.NoError(t, err)
	require.NoError(t, r.windows(ctx, busiest, time.Time{}))
	require.NoError(t, r.windows(ctx, asked, time.Now().Add(-time.Second)))
	require.NoError(t, r.forget(ctx))
	found = p.current(t)
	require.Nil(t, found[list.Key{ItemType: "video", Window: "5m", Slice: "country=DE|FR"}])
	require.NotNil(t, found[list.Key{ItemType: "video", Window: "5m", Slice: "country=DE"}])
}

// testMakerGoesOn: where the lists of one window cannot be made, the others are, and those stay that are served.
func testMakerGoesOn(t *testing.T, e *engine) {
	p := startLists(t)
	ctx := context.Background()
	m := NewMaker(e.conn, config(func(c *Config) { c.EveryTrend = time.Hour }), quiet(), prometheus.NewRegistry())
	views := []view{{"video", "a", "DE", "music", "de", noon.Add(-30 * time.Second), 3}, {"video", "a", "DE", "music", "de", noon.Add(-5 * time.Hour), 7}} // an hour that is closed
	e.both(t, views...)
	recountAll(t, e.recounter(), noon)
	p.exec(t, "INSERT INTO asked_slices VALUES ('video', '24h', 'country=DE', now())")
	require.NoError(t, m.Round(ctx, p.do, noon, allKept))
	of := func(window string) *list.List {
		return p.current(t)[list.Key{ItemType: "video", Window: window, Slice: "country=DE"}]
	}
	require.Equal(t, uint64(10), of("24h").Total)
	e.Query(t, "RENAME TABLE topk.recounts_daily TO topk.recounts_away")
	err := m.Round(ctx, p.do, noon.Add(time.Minute), allKept)
	e.Query(t, "RENAME TABLE topk.recounts_away TO topk.recounts_daily")
	require.ErrorContains(t, err, "make the lists of slices of 24h")
	require.Equal(t, noon.Add(time.Minute), of("1h").AsOf)
	require.Equal(t, noon, of("24h").AsOf, "the last good one stays")
	require.NoError(t, m.Round(ctx, p.do, noon.Add(2*time.Minute), allKept))
	require.Equal(t, noon.Add(2*time.Minute), of("24h").AsOf)
}

// testCountedMeanwhile: an hour that is counted after closed hours were filled keeps no list from being made in the same round.
func testCountedMeanwhile(t *testing.T, e *engine) {
	p := startLists(t)
	m := NewMaker(e.conn, config(), quiet(), prometheus.NewRegistry())
	e.both(t, view{"video", "a", "DE", "music", "de", noon.Add(-30 * time.Second), 3}, view{"video", "a", "DE", "music", "de", noon.Add(-5 * time.Hour), 7})
	require.NoError(t, m.fill(t.Context(), noon))
	require.NoError(t, m.fillClosed(t.Context(), noon))
	recountAll(t, e.recounter(), noon)
	r := &round{Maker: m, db: p.do, asOf: noon, kept: allKept, stay: map[string]bool{}}
	require.NoError(t, r.trends(t.Context(), wishes{}, wishes{}))
	require.NoError(t, r.failed)
	require.Empty(t, r.stay)
	require.Len(t, p.current(t), 1)
}

// testFillGoesOn: a minute that cannot be filled is tried until it can.
func testFillGoesOn(t *testing.T, e *engine) {
	e.land(t, 1, view{"video", "a", "DE", "music", "de", noon.Add(-30 * time.Second), 3})
	f := NewFiller(e.conn, config())
	e.Query(t, "RENAME TABLE topk.slice_minutes TO topk.slice_minutes_away")
	for range 2 * maxTries {
		_, err := f.Fill(t.Context(), noon.Add(-time.Hour), noon)
		require.ErrorContains(t, err, "fill slices of")
	}
	e.Query(t, "RENAME TABLE topk.slice_minutes_away TO topk.slice_minutes")
	filled, err := f.Fill(t.Context(), noon.Add(-time.Hour), noon)
	require.NoError(t, err)
	require.Equal(t, 1, filled)
}

// testScreenedSilence: with viewers asked for, slices of which nothing was viewed lately have lists that say so.
func testScreenedSilence(t *testing.T, e *engine) {
	p := startLists(t)
	m := NewMaker(e.conn, config(), quiet(), prometheus.NewRegistry())
	screen := viewers.DefaultConfig()
	screen.Min = 2
	m.Screen(viewers.New(e.conn, screen, quiet(), nil))
	e.land(t, 1, view{"video", "a", "DE", "music", "de", noon.Add(-30 * time.Second), 3})
	require.NoError(t, m.Round(t.Context(), p.do, noon, allKept))
	require.NoError(t, m.Round(t.Context(), p.do, noon.Add(65*time.Minute), allKept))
	l := p.current(t)[list.Key{ItemType: "video", Window: list.TrendingWindow, Slice: list.GlobalSlice}]
	require.Equal(t, noon.Add(65*time.Minute), l.AsOf)
	require.Equal(t, 2, l.MinViewers)
	require.Empty(t, l.Items)
}
