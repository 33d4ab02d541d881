package api

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/list"
)

// However many slices without views are asked for, they are bounded and cost no list of a slice that has views.
func TestEmptyListsEvictNoOthers(t *testing.T) {
	c, now := newDemandCache(), time.Now()
	made := func(name string, items int) (demandKey, *demanded) {
		l := sample("video", "1h", items, 5000)
		l.Slice, l.PublishedAt = name, now
		d, err := newDemanded(l, freshness{})
		require.NoError(t, err)
		return l.Key(), d
	}
	hot, viewed := made("country=DE|FR", 1000)
	c.put(hot, viewed)
	for i := range 10_000 {
		key, empty := made(fmt.Sprintf("category=made-up-%d", i), 0)
		c.put(key, empty)
		_, err := c.page(key, empty, query{key: key, k: 100, least: 1}, false)
		require.NoError(t, err)
	}
	require.Equal(t, viewed, c.get(hot, now))
	entries, bytes := c.empty.size()
	require.LessOrEqual(t, entries, maxEmptyEntries)
	require.LessOrEqual(t, bytes, maxEmptyBytes)
	require.Nil(t, c.get(hot, now.Add(demandLast+time.Second)), "it is too old for anything")
	entries, _ = c.viewed.size()
	require.Zero(t, entries)
}

// Lists of slices with views are bounded by what they take, answers included.
func TestListsOnDemandAreBoundedInBytes(t *testing.T) {
	c, now := newDemandCache(), time.Now()
	for i := range 400 {
		l := sample("video", "1h", 1000, 5000)
		l.Slice, l.PublishedAt = fmt.Sprint("category=", i), now
		made, err := newDemanded(l, freshness{})
		require.NoError(t, err)
		c.put(l.Key(), made)
		for k := range 2 * maxPagesPerDemanded {
			_, err := c.page(l.Key(), made, query{key: l.Key(), k: 1 + k, least: 1}, false)
			require.NoError(t, err)
		}
		require.LessOrEqual(t, len(*made.pages.Load()), maxPagesPerDemanded)
	}
	entries, bytes := c.viewed.size()
	require.LessOrEqual(t, bytes, maxDemandBytes)
	require.Greater(t, bytes, maxDemandBytes/2)
	require.Less(t, entries, 400)
}

// A slice that gets views, or loses them, has one list.
func TestAListIsKeptOnce(t *testing.T) {
	c, now := newDemandCache(), time.Now()
	l, none := sample("video", "1h", 3, 30), sample("video", "1h", 0, 0)
	l.PublishedAt, none.PublishedAt = now, now
	for _, l := range []*list.List{l, none, l} {
		made, err := newDemanded(l, freshness{})
		require.NoError(t, err)
		c.put(l.Key(), made)
		viewed, _ := c.viewed.size()
		empty, _ := c.empty.size()
		require.Equal(t, 1, viewed+empty)
		require.Same(t, made, c.get(l.Key(), now))
	}
}

// On live data a list that ends long ago is stale, whenever it was made; recorded data ends.
func TestListsOnDemandThatEndLongAgoAreStale(t *testing.T) {
	l := sample("video", "1h", 3, 30)
	l.Slice = "country=DE"
	live, err := newDemanded(l, freshness{staleAfter: time.Minute})
	require.NoError(t, err)
	require.False(t, live.stale(l.AsOf.Add(3*time.Minute)))
	require.True(t, live.stale(l.AsOf.Add(5*time.Minute)))
	recorded, err := newDemanded(l, freshness{})
	require.NoError(t, err)
	require.False(t, recorded.stale(l.AsOf.Add(1000*time.Hour)))
}
