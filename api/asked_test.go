package api

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"topk/internal/list"
)

// However many lists are asked for, the rows that are entered and what is remembered are bounded.
func TestAskedRowsAreBounded(t *testing.T) {
	now := time.Now()
	a := newAsker(&memory{}, newDemandMetrics(prometheus.NewRegistry()), slog.New(slog.DiscardHandler), func() time.Time { return now })
	key := func(i int) list.Key {
		return list.Key{ItemType: "video", Window: "1h", Slice: fmt.Sprint("category=", i)}
	}
	for i := range 10 * maxAskedOnce {
		a.ask(key(i))
	}
	require.Empty(t, a.due, "each was asked for once")
	entries, _ := a.once.size()
	require.LessOrEqual(t, entries, maxAskedOnce)
	for i := range maxAskedRows + 100 {
		a.ask(key(i))
		a.ask(key(i))
	}
	require.Len(t, a.due, maxAskedRows)
	require.True(t, a.due[key(0)])
	require.False(t, a.due[key(maxAskedRows)])
}

// A version takes over when the list was asked for, and a list of all views is not watched.
func TestVersionsShareWhenTheyWereAskedFor(t *testing.T) {
	m := &memory{}
	version := func(slice string, n int64) *served {
		l := sample("video", "1h", 3, 30)
		l.Slice, l.Version = slice, n
		s, err := newServed(l, freshness{})
		require.NoError(t, err)
		return s
	}
	first := version("country=DE", 1)
	m.put(first)
	first.asks.note(time.Unix(1000, 0))
	second := version("country=DE", 2)
	m.put(second)
	require.Same(t, first.asks, second.asks)
	third := version("country=DE", 3)
	m.replace(map[list.Key]*served{third.list.Key(): third})
	require.Equal(t, int64(1000), third.asks.second.Load())
	require.Nil(t, version(list.GlobalSlice, 1).asks)
}

// What is asked for on demand twice within ten minutes gets a row, which says once a minute that it is still asked for.
func entersWhatIsAskedFor(t *testing.T, a *asking) {
	const asked = "/v1/topk?country=DE,FR"
	a.list(asked)
	a.list("/v1/topk?country=IT")
	a.list("/v1/topk?country=DE,FR&window=5m")
	a.clock.pass(askedWithin + time.Second)
	a.list(asked) // not within ten minutes
	for range 3 {
		a.list("/v1/topk?category=made-up")
	}
	a.list("/v1/topk?language=hi")
	a.list("/v1/topk?language=hi") // what is due now is written after all that came before
	written := func(rows ...string) {
		t.Helper()
		require.Eventually(t, func() bool { return fmt.Sprint(a.asked()) == fmt.Sprint(rows) }, 10*time.Second, 20*time.Millisecond, "%v", rows)
	}
	written("video 1h language=hi")
	a.list(asked)
	written("video 1h country=DE|FR", "video 1h language=hi")
	require.Equal(t, float64(2), a.metric(`topk_api_on_demand_asked_total{result="written"}`))

	// Once a minute the row says that the list is still asked for.
	a.db.exec("UPDATE asked_slices SET asked_at = '2026-01-01'")
	refreshed := func(slice string) bool {
		var found bool
		conn := a.db.connect()
		require.NoError(t, conn.QueryRow(context.Background(), "SELECT asked_at > '2026-01-01' FROM asked_slices WHERE slice = $1", slice).Scan(&found))
		require.NoError(t, conn.Close(context.Background()))
		return found
	}
	a.list(asked)
	a.clock.pass(askedAgain)
	a.list(asked)
	require.Eventually(t, func() bool { return refreshed("country=DE|FR") }, 10*time.Second, 20*time.Millisecond)
	require.False(t, refreshed("language=hi"))

	// So it does once the list is published: over net/http and over the front, through versions of the list.
	a.db.exec("UPDATE asked_slices SET asked_at = '2026-01-01'")
	for _, slice := range []string{"country=DE|FR", "language=hi", "country=US"} {
		l := sample("video", "1h", 3, 30)
		l.Slice = slice
		a.db.publish(l)
	}
	for _, path := range []string{asked, "/v1/topk?language=hi", "/v1/topk?country=US"} {
		require.Eventually(t, func() bool { return *a.list(path).Precomputed }, 10*time.Second, 5*time.Millisecond)
	}
	l := sample("video", "1h", 3, 30)
	l.Slice = "language=hi"
	a.db.publish(l)
	require.Eventually(t, func() bool { return refreshed("country=DE|FR") && refreshed("language=hi") }, 2*askedLook, 50*time.Millisecond)
	require.Len(t, a.asked(), 2, "what is published anyway gets no row")
}
