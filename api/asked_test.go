package api

import (
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
		s, err := newServed(l, 0)
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
