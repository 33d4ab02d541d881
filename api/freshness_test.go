package api

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/list"
)

// However seldom a rollup worker makes lists of items that trend, they are stale only once the next one is overdue.
func TestTrendsAreStaleByTheirPace(t *testing.T) {
	l := sample("video", list.TrendingWindow, 3, 30)
	l.PublishedAt = l.AsOf
	config := DefaultConfig()
	require.Equal(t, 10*time.Minute, config.freshness().every(list.TrendingWindow, list.GlobalSlice))
	config.EveryTrend, config.StaleAfter = time.Hour, time.Minute
	published, err := newServed(l, config.freshness())
	require.NoError(t, err)
	require.False(t, published.stale(l.AsOf.Add(2*time.Hour)))
	require.True(t, published.stale(l.AsOf.Add(2*time.Hour+time.Minute)))
	made, err := newDemanded(l, config.freshness())
	require.NoError(t, err)
	require.False(t, made.stale(l.AsOf.Add(2*time.Hour)))
	require.True(t, made.stale(l.AsOf.Add(2*time.Hour+2*time.Minute)))
	config.EveryTrend = time.Second
	require.ErrorContains(t, config.Validate(), "every-trend:")
}
