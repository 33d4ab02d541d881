package rollups

import (
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

const (
	// recent is how long rows stay in small parts, of which all can be read. Older seconds are read by item alone.
	recent = 2 * time.Minute
	// maxCells bounds what is remembered, eight bytes each: seconds times items, and as many again that were candidates
	// lately. A minute of 35,000 candidates fits, eight busy item types. Where more are named nothing is remembered.
	maxCells = 4 << 20
	// unasked stands for the views of an item that were not asked for in a second.
	unasked = math.MaxUint64
)

// item is an item of a type.
type item struct{ itemType, id string }

// seconds remembers what was counted of recent seconds, so that a build reads those that are new, those for which something
// landed since, and the few items that have become candidates.
//
// A second is remembered only if it was counted from exactly the messages that had landed, and none of its views was written
// by hand: whatever changes it later has a sign in landed. Where this is not so, a block was half visible or rows did not come
// from Kafka, the answer serves one build.
type seconds struct {
	slots map[item]int // where the views of an item are
	held  map[int64]*second
}

// second is what was counted of one second.
type second struct {
	landed  map[string]sign // by item type: what had landed at that moment
	counted map[string]sign // by item type: what was counted, all items together
	views   []uint64        // by slot; items of later slots were not asked for either
	torn    bool            // something arrived while it was read in parts
}

// whole says whether exactly what had landed was counted.
func (s *second) whole() bool { return !s.torn && maps.Equal(s.landed, s.counted) }

func newSeconds() *seconds { return &seconds{slots: map[item]int{}, held: map[int64]*second{}} }

// name gives candidates and those behind them a slot. When most slots belong to neither any more, all is
// forgotten of those that do not.
func (m *seconds) name(named map[string]*nomination) {
	var all []item
	for itemType, n := range named {
		for _, candidate := range n.items {
			all = append(all, item{itemType, candidate.id})
		}
		for _, id := range n.next {
			all = append(all, item{itemType, id})
		}
	}
	for _, i := range all {
		if _, ok := m.slots[i]; !ok {
			m.slots[i] = len(m.slots)
		}
	}
	if len(m.slots) > 2*len(all) {
		m.keep(all)
	}
}

func (m *seconds) keep(all []item) {
	slots := make(map[item]int, len(all))
	old := make([]int, len(all))
	for slot, i := range all {
		slots[i], old[slot] = slot, m.slots[i]
	}
	m.slots = slots
	for _, s := range m.held {
		views := make([]uint64, len(all))
		for slot, before := range old {
			views[slot] = s.at(before)
		}
		s.views = views
	}
}

// at returns the views in a slot.
func (s *second) at(slot int) uint64 {
	if slot >= len(s.views) {
		return unasked
	}
	return s.views[slot]
}

// stale are the seconds that must be read: new ones, and those for which anything landed since they were read.
func (m *seconds) stale(wanted []int64, now landed) []int64 {
	var stale []int64
	for _, at := range wanted {
		if have := m.held[at]; have == nil || !maps.Equal(have.landed, now[at]) {
			stale = append(stale, at)
		}
	}
	return stale
}

// forget leaves what the next build of the window may use.
func (m *seconds) forget(wanted []int64) {
	held := make(map[int64]*second, len(wanted))
	for _, at := range wanted {
		if s := m.held[at]; s != nil && s.whole() {
			held[at] = s
		}
	}
	m.held = held
}

// countRecent adds the candidates' views of recent seconds to found, and corrects totals by what was counted there. beyond
// are seconds in which other rows were counted than had landed.
func (b *Builder) countRecent(ctx context.Context, q question, named map[string]*nomination, wanted []int64,
	totals map[string]uint64, found tally,
) (beyond landed, err error) {
	m := b.seconds
	defer m.forget(wanted)
	m.name(named)
	if err := b.readStale(ctx, q, m.stale(wanted, q.landed)); err != nil {
		return nil, err
	}
	if err := b.readUnasked(ctx, q, named, wanted); err != nil {
		return nil, err
	}
	beyond = landed{}
	for _, at := range wanted {
		s := m.held[at]
		for _, itemType := range q.types {
			totals[itemType] += s.counted[itemType].views - q.landed[at][itemType].views // wraps back: it is part of totals
			if !s.whole() {
				beyond.put(at, itemType, s.counted[itemType])
			}
		}
	}
	for itemType, n := range named {
		for _, candidate := range n.items {
			slot, views := m.slots[item{itemType, candidate.id}], uint64(0)
			for _, at := range wanted {
				views += m.held[at].views[slot]
			}
			if views > 0 {
				found.add(itemType, candidate.id, views)
			}
		}
	}
	return beyond, nil
}

// readAhead reads new seconds of a short window for the items that were candidates before: most still are.
func (b *Builder) readAhead(ctx context.Context, q question) error {
	if q.window.Length > recent || len(b.seconds.slots) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, b.config.VerifyTimeout)
	defer cancel()
	wanted := slices.Collect((span{q.from, q.asOf}).seconds())
	return b.readStale(ctx, q, b.seconds.stale(wanted, q.landed))
}

// readStale reads seconds as they are, and once more with FINAL where rows are repeated or a block is on its way.
func (b *Builder) readStale(ctx context.Context, q question, stale []int64) error {
	read, err := b.readWhole(ctx, q, "count_seconds_plain", stale)
	if err != nil {
		return err
	}
	var twice []int64
	for _, at := range stale {
		if !read[at].whole() {
			twice = append(twice, at)
		}
	}
	again, err := b.readWhole(ctx, q, "count_seconds", twice)
	if err != nil {
		return err
	}
	maps.Copy(b.seconds.held, read)
	maps.Copy(b.seconds.held, again)
	return nil
}

// readWhole reads seconds for every item that has a slot.
func (b *Builder) readWhole(ctx context.Context, q question, name string, which []int64) (map[int64]*second, error) {
	read := map[int64]*second{}
	if len(which) == 0 {
		return read, nil
	}
	m := b.seconds
	all := make([]item, 0, len(m.slots))
	for i := range m.slots {
		all = append(all, i)
	}
	for _, at := range which {
		read[at] = &second{views: make([]uint64, len(m.slots))}
	}
	first := true
	err := chunksOf(all, func(_, ids []string) error {
		p := parameters{"types": q.types, "ids": ids, "seconds": times(which)}
		err := b.readPart(ctx, name, p, read, first)
		first = false
		return err
	})
	return read, err
}

// readPart reads seconds for some of the items. What changes between two parts makes a second torn.
func (b *Builder) readPart(ctx context.Context, name string, p parameters, into map[int64]*second, first bool) error {
	there, counted := landed{}, landed{}
	err := read(ctx, b.conn, name, p, b.config.VerifyTimeout, func(r driver.Rows) error {
		var itemType, id string
		var at time.Time
		var views, print, byHand uint64
		var isLanded uint8
		if err := r.Scan(&itemType, &id, &at, &views, &print, &isLanded, &byHand); err != nil {
			return err
		}
		if isLanded == 1 {
			there.put(at.Unix(), itemType, sign{views, print, byHand})
			return nil
		}
		if slot, ok := b.seconds.slots[item{itemType, id}]; ok {
			into[at.Unix()].views[slot] = views
		}
		sum := counted[at.Unix()][itemType]
		counted.put(at.Unix(), itemType, sign{views: sum.views + views, print: sum.print + print})
		return nil
	})
	for at, s := range into {
		if first {
			s.landed, s.counted = there[at], counted[at]
		} else if !maps.Equal(s.landed, there[at]) || !maps.Equal(s.counted, counted[at]) {
			s.torn = true
		}
	}
	return err
}

// readUnasked reads what is missing of items that have become candidates, in seconds that were read before.
func (b *Builder) readUnasked(ctx context.Context, q question, named map[string]*nomination, wanted []int64) error {
	m := b.seconds
	var missing []item
	since := map[int64]bool{}
	for itemType, n := range named {
		for _, candidate := range n.items {
			i, lacks := item{itemType, candidate.id}, false
			for _, at := range wanted {
				if m.held[at].at(m.slots[i]) == unasked {
					since[at], lacks = true, true
				}
			}
			if lacks {
				missing = append(missing, i)
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	which := slices.Collect(maps.Keys(since))
	found := map[int64]tally{}
	for _, at := range which {
		found[at] = tally{}
	}
	err := chunksOf(missing, func(_, ids []string) error {
		p := parameters{"types": q.types, "ids": ids, "seconds": times(which)}
		return read(ctx, b.conn, "add_items", p, b.config.VerifyTimeout, func(r driver.Rows) error {
			var itemType, id string
			var at time.Time
			var views uint64
			if err := r.Scan(&itemType, &id, &at, &views); err != nil {
				return err
			}
			found[at.Unix()].add(itemType, id, views)
			return nil
		})
	})
	if err != nil {
		return err
	}
	for _, at := range which {
		m.held[at].fill(m.slots, missing, found[at])
	}
	return nil
}

// fill takes in items that were not asked for before.
func (s *second) fill(slots map[item]int, missing []item, found tally) {
	for len(s.views) < len(slots) {
		s.views = append(s.views, unasked)
	}
	for _, i := range missing {
		if slot := slots[i]; s.views[slot] == unasked {
			s.views[slot] = found[i.itemType][i.id]
		}
	}
}
