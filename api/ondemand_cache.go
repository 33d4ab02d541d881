package api

import (
	"sync/atomic"
	"time"

	"topk/internal/list"
)

// Bounds of what is kept of lists that were made on demand.
const (
	// demandFresh is how long an answer is given again: a crowd costs one build in that time.
	demandFresh = 5 * time.Second
	// demandCacheControl says the same to caches.
	demandCacheControl = "public, max-age=5"
	// demandLast is how old a list may be that is served, as stale, because no newer one can be made: of ten minutes, as a list that is asked
	// for is made for so long.
	demandLast = 10 * time.Minute
	// demandRetry is how long after a failure the last list is served before another is tried.
	demandRetry = time.Second
	// maxDemandEntries and maxDemandBytes bound the lists of slices that have views: a full one is some 300 kB, and 400 kB with its answers.
	maxDemandEntries, maxDemandBytes = 1000, 64 << 20
	// maxEmptyEntries and maxEmptyBytes bound those of slices without views, apart, because anybody can make up more of them.
	maxEmptyEntries, maxEmptyBytes = 1000, 4 << 20
	// emptyBytes is about what an entry takes beside its answers.
	emptyBytes = 1 << 10
	// maxPagesPerDemanded bounds the answers kept ready for one list; further ones are made for each request.
	maxPagesPerDemanded = 8
)

type demandKey = list.Key

// demanded is a list that was made on demand. It does not change.
type demanded struct {
	*served
	absent  bool         // it is not kept
	retryAt atomic.Int64 // Unix nanoseconds before which no newer one is tried
}

// newDemanded prepares a list that was just made. On live data one that ends long ago is stale: published ones are as old when their next
// version is overdue.
func newDemanded(l *list.List, fresh freshness) (*demanded, error) {
	s := &served{list: l, cacheControl: demandCacheControl, maxPages: maxPagesPerDemanded}
	s.staleAt = fresh.staleAt(l, l.AsOf.Add(time.Minute)) // they end at whole minutes
	return &demanded{served: s}, s.encode()
}

// viewed says whether the slice has any views, so that its list is worth more than a made-up one's.
func (d *demanded) viewed() bool { return d.list.Total > 0 || len(d.list.Items) > 0 }

func (d *demanded) age(now time.Time) time.Duration { return now.Sub(d.list.PublishedAt) }

func (d *demanded) fresh(now time.Time) bool { return d.age(now) < demandFresh }

func (d *demanded) size() int { return emptyBytes + d.served.size() }

// demandCache holds lists that were made on demand, those of slices without views apart.
type demandCache struct {
	viewed, empty *lru[demandKey, *demanded]
}

func newDemandCache() *demandCache {
	return &demandCache{
		viewed: newLRU[demandKey, *demanded](maxDemandEntries, maxDemandBytes),
		empty:  newLRU[demandKey, *demanded](maxEmptyEntries, maxEmptyBytes),
	}
}

// get returns the last list that was made, or nil when that is long ago.
func (c *demandCache) get(key demandKey, now time.Time) *demanded {
	for _, lists := range []*lru[demandKey, *demanded]{c.viewed, c.empty} {
		if held := lists.get(key); held != nil {
			if held.age(now) <= demandLast {
				return held
			}
			lists.drop(key)
		}
	}
	return nil
}

// put keeps a list in the place of the last one.
func (c *demandCache) put(key demandKey, made *demanded) {
	into, other := c.viewed, c.empty
	if !made.viewed() {
		into, other = other, into
	}
	other.drop(key)
	into.put(key, made, made.size())
}

// page is an answer from a list, whose size is accounted for.
func (c *demandCache) page(key demandKey, from *demanded, q query, stale bool) (*page, error) {
	before := from.size()
	page, err := from.page(q.k, q.least, stale)
	if after := from.size(); after != before {
		c.viewed.resize(key, from, after)
		c.empty.resize(key, from, after)
	}
	return page, err
}
