package viewers

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// beforeFor is how long it stays true how many views an item had before raw events begin: none are added to those, and the window moves on
// and leaves some out.
const beforeFor = time.Hour

// before is how many views of a window are before the time that raw events and states know of.
type before struct {
	views uint64
	at    time.Time // by the wall clock
}

// earlier is how many viewers an item may have had in a window before its states begin: as many as views, or any number when that is not known.
func (k *known) earlier(window string, now time.Time) uint64 {
	if b, ok := k.before[window]; ok && now.Sub(b.at) < beforeFor {
		return b.views
	}
	return 1 << 62
}

// beyond finds out, of windows that begin before raw events are kept, how many views are not among those: an item that has risen since has
// none there. Items whose raw events are still to be counted come first to that.
func (b *build) beyond(ctx context.Context, under []Item) error {
	oldest := b.window.AsOf.Add(-b.config.KeepEvents).Truncate(allGrains[b.grain].length)
	if !b.from().Before(oldest) {
		return nil
	}
	began := time.Now()
	defer func() { b.metrics.step("beyond", time.Since(began)) }()
	return eachPart(b.unknown(under, oldest), 1, func(itemType string, ids []string) error {
		if time.Since(b.began) > b.config.Budget/3 {
			return nil
		}
		var counted uint64
		p := parameters{"type": itemType, "ids": ids, "from": oldest, "until": b.window.AsOf}
		err := questions.Read(ctx, b.conn, "views", p, b.config.Budget, func(rows driver.Rows) error {
			var id string
			return rows.Scan(&id, &counted)
		})
		if err != nil {
			return err
		}
		b.watch.mu.Lock()
		defer b.watch.mu.Unlock()
		item := Item{itemType, ids[0]}
		if k := b.watch.items[item]; k != nil {
			if k.before == nil {
				k.before = map[string]before{}
			}
			k.before[b.window.Name] = before{b.views[item] - min(counted, b.views[item]), time.Now()}
		}
		return nil
	})
}

// unknown are the items whose states hold all that raw events say, and of whose views before nothing is known.
func (b *build) unknown(items []Item, oldest time.Time) (unknown []Item) {
	b.watch.mu.Lock()
	defer b.watch.mu.Unlock()
	now := time.Now()
	for _, item := range items {
		k := b.watch.items[item]
		if k == nil || k.since[b.grain].After(oldest) || b.viewers[item] >= b.config.least() {
			continue
		}
		if last, ok := k.before[b.window.Name]; !ok || now.Sub(last.at) >= beforeFor {
			unknown = append(unknown, item)
		}
	}
	return unknown
}
