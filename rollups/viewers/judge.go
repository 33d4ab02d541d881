package viewers

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

const (
	// again is how soon an item that was left out is counted again.
	again = 3 * time.Second
	// fewFor is how long an item that was left out stays so while nothing can be counted.
	fewFor = time.Hour
	// keepMore is how much longer than raw events the states of hours are kept: 30d begins with a whole day.
	keepMore = 48 * time.Hour
)

// KeepHours is the life of the states of hours, in event time.
func (c Config) KeepHours() time.Duration { return c.KeepEvents + keepMore }

// build is one screening of the lists of a window.
type build struct {
	*Filter
	window     Window
	grain      int
	began      time.Time
	partitions int             // that may still be looked into for the past of items
	views      map[Item]uint64 // in the window
	viewers    map[Item]uint64 // that states know of
}

// from is where the states of the window begin: buckets that it overlaps count whole.
func (b *build) from() time.Time { return b.window.From.Truncate(allGrains[b.grain].length) }

// judge says which items have too few viewers.
func (b *build) judge(ctx context.Context, items []Item) map[Item]bool {
	few := map[Item]bool{}
	open, fresh := b.look(items, few)
	if len(open) == 0 {
		return few
	}
	if err := b.watch.add(ctx, fresh, b.window.AsOf); err != nil {
		b.failed(ctx, "watch items", err)
	}
	under, err := b.count(ctx, open)
	if err == nil && !b.watch.reads {
		under, err = b.past(ctx, under)
	}
	if err == nil {
		err = b.beyond(ctx, under)
	}
	if err == nil && b.watch.reads {
		err = b.watch.unchanged(ctx)
	}
	if err != nil {
		b.failed(ctx, "count viewers", err)
	}
	b.decide(under, few, err != nil)
	return few
}

// look takes what is known of items. It returns those that are to be counted, and which of them are not watched.
func (b *build) look(items []Item, few map[Item]bool) (open, fresh []Item) {
	b.watch.mu.Lock()
	defer b.watch.mu.Unlock()
	now, from := time.Now(), b.from()
	for _, item := range items {
		k := b.watch.items[item]
		if k == nil || !k.watched {
			fresh = append(fresh, item)
		}
		if k == nil {
			open = append(open, item)
			continue
		}
		k.wanted = now
		switch last := k.few[b.window.Name]; {
		case !k.enough.Before(from):
		case now.Sub(last) < again:
			few[item] = true
		default:
			open = append(open, item)
		}
	}
	return open, fresh
}

// count reads the states of items, and returns those with too few viewers.
func (b *build) count(ctx context.Context, items []Item) (under []Item, err error) {
	began := time.Now()
	defer func() { b.metrics.step("count", time.Since(began)) }()
	found := b.viewers
	err = eachPart(items, maxAsked, func(itemType string, ids []string) error {
		p := parameters{"type": itemType, "ids": ids, "from": b.from()}
		return questions.Read(ctx, b.conn, allGrains[b.grain].count, p, b.config.Budget, func(rows driver.Rows) error {
			var id string
			var viewers uint64
			if err := rows.Scan(&id, &viewers); err != nil {
				return err
			}
			found[Item{itemType, id}] = viewers
			return nil
		})
	})
	if err != nil {
		return items, err
	}
	b.watch.mu.Lock()
	defer b.watch.mu.Unlock()
	for _, item := range items {
		if found[item] < b.config.least() {
			under = append(under, item)
		} else if k := b.watch.items[item]; k != nil && k.enough.Before(b.from()) {
			k.enough = b.from()
		}
	}
	return under, nil
}

// decide leaves out those whose every viewer in the window is counted, or who have too few even if each other view was another viewer's. When counting failed, those that were left out before.
func (b *build) decide(under []Item, few map[Item]bool, failed bool) {
	b.watch.mu.Lock()
	defer b.watch.mu.Unlock()
	now, from := time.Now(), b.from()
	kept := !from.Before(b.window.AsOf.Add(-b.config.KeepHours()))
	for _, item := range under {
		k := b.watch.items[item]
		switch {
		case k == nil:
			b.metrics.unknown.Inc()
		case failed:
			few[item] = now.Sub(k.few[b.window.Name]) < fewFor
		case kept && !k.since[b.grain].After(from), b.viewers[item]+k.earlier(b.window.Name, now) < b.config.least():
			if k.few == nil {
				k.few = map[string]time.Time{}
			}
			k.few[b.window.Name], few[item] = now, true
		default:
			b.metrics.unknown.Inc()
		}
	}
}

// eachPart calls f with the ids of each type, at most so many at a time and no more than a question takes.
func eachPart(items []Item, most int, f func(itemType string, ids []string) error) error {
	byType := map[string][]string{}
	var types []string
	for _, item := range items {
		if byType[item.Type] == nil {
			types = append(types, item.Type)
		}
		byType[item.Type] = append(byType[item.Type], item.ID)
	}
	for _, itemType := range types {
		ids := byType[itemType]
		for len(ids) > 0 {
			n, size := 0, 0
			for ; n < len(ids) && n < most && size < maxBytes; n++ {
				size += len(ids[n]) + 3
			}
			if err := f(itemType, ids[:n]); err != nil {
				return err
			}
			ids = ids[n:]
		}
	}
	return nil
}
