package rollups

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/clickhouse"
	"topk/internal/list"
	"topk/rollups/recount"
	"topk/rollups/viewers"
)

// longName is of the long windows together, in metrics and logs.
const longName = "long"

// maxOpen is how far back the hours may reach that are not recounted. While they reach further no long list is made: the last good
// ones stay, and are stale. Counting a day as it landed would take longer than recounting it.
const maxOpen = 12 * time.Hour

// Long makes the lists of windows that reach back into closed hours: exact counts of those, stitched to what was counted as it landed
// since. All windows share the questions about the open part. It is not safe for concurrent use.
type Long struct {
	conn   driver.Conn
	open   *Builder
	within time.Duration
	heads  *headCache

	windows []list.Window
	bases   map[string]*base // by window
	start   time.Time        // of the earliest open part of the last lists
}

// NewLong returns a builder on a connection. open counts the hours that are not closed. A build that takes longer than within fails:
// counts that a newer recount replaced stay that long.
func NewLong(conn driver.Conn, open *Builder, within time.Duration) *Long {
	l := &Long{conn: conn, open: open, within: within, heads: newHeadCache(conn), windows: list.Long, bases: map[string]*base{}}
	for _, w := range list.Long {
		l.bases[w.Name] = &base{conn: conn, heads: l.heads, most: recount.HeadItems}
	}
	return l
}

// stitched is a window whose closed part is known, and where the open one begins.
type stitched struct {
	window list.Window
	base   *base
	start  time.Time // of the open part
}

// Build returns the lists of every long window that ends at asOf, one an item type.
func (l *Long) Build(ctx context.Context, asOf time.Time) ([]*list.List, error) {
	ctx, cancel := context.WithTimeoutCause(clickhouse.Patient(ctx), l.within, errOutlived)
	defer cancel()
	windows, err := l.cover(ctx, asOf)
	if err != nil {
		return nil, err
	}
	l.start = asOf
	for _, w := range windows {
		if w.start.Before(l.start) {
			l.start = w.start
		}
	}
	if err := l.kept(ctx, asOf); err != nil {
		return nil, err
	}
	since := asOf.Add(-typesSince)
	if l.start.Before(since) {
		since = l.start
	}
	types, err := l.open.recentTypes(ctx, asOf, since)
	if err != nil {
		return nil, err
	}
	// A type that has views in one window has a list in each: an empty one says so.
	totals := map[string]uint64{}
	for _, w := range windows {
		of, err := w.base.totals(ctx)
		if err != nil {
			return nil, fmt.Errorf("item types of %s: %w", w.window.Name, err)
		}
		for itemType, views := range of {
			totals[itemType] = max(totals[itemType], views)
		}
	}
	wanted := busiest(types, totals)
	used := map[recount.Part]bool{}
	for _, w := range windows {
		if err := w.base.update(ctx, wanted); err != nil {
			return nil, fmt.Errorf("exact hours of %s: %w", w.window.Name, err)
		}
		added, taken := w.base.cover.Parts()
		for _, p := range slices.Concat(added, taken) {
			used[p] = true
		}
	}
	l.heads.forget(used)
	var lists []*list.List
	for len(windows) > 0 { // windows whose open parts begin together, which are all while recounts keep up
		start := windows[0].start
		together := slices.DeleteFunc(slices.Clone(windows), func(w stitched) bool { return !w.start.Equal(start) })
		windows = slices.DeleteFunc(windows, func(w stitched) bool { return w.start.Equal(start) })
		made, err := l.stitch(ctx, together, start, asOf, wanted)
		if err != nil {
			return nil, err
		}
		lists = append(lists, made...)
	}
	return lists, nil
}

// cover finds out what is closed of each window.
func (l *Long) cover(ctx context.Context, asOf time.Time) ([]stitched, error) {
	var froms []time.Time
	for _, w := range l.windows {
		froms = append(froms, w.From(asOf))
	}
	covers, err := recount.ReadCovers(ctx, l.conn, froms, asOf.Truncate(time.Hour))
	if err != nil {
		return nil, err
	}
	var windows []stitched
	for i, w := range l.windows {
		b, c := l.bases[w.Name], covers[i]
		b.next = c
		start := c.Until
		if c.Empty() { // nothing is closed: there is nothing before the first event, nor before what landed
			first, err := l.firstLanded(ctx, asOf)
			if err == nil && start.Before(first) {
				start, _, err = l.events(ctx, start, first)
			}
			if err != nil {
				return nil, err
			}
		}
		windows = append(windows, stitched{w, b, start})
	}
	return windows, nil
}

// events are the first hour that raw events are kept of in [from, until), until when there are none, and how many rows there are.
func (l *Long) events(ctx context.Context, from, until time.Time) (first time.Time, rows uint64, err error) {
	first = until
	err = questions.Read(ctx, l.conn, "kept_events", parameters{"from": from, "until": until}, questionBudget, func(r driver.Rows) error {
		var hour time.Time
		if err := r.Scan(&hour, &rows); err != nil {
			return err
		}
		if rows > 0 {
			first = hour.UTC()
		}
		return nil
	})
	return first, rows, err
}

// errOutlived says that closed hours may have been replaced and dropped while they were read.
var errOutlived = errors.New("the lists took longer than replaced counts are kept")

// checkKept is how far back the open part reaches while all is well: the hour that is open, and the one before until it is recounted.
const checkKept = 2*time.Hour + 30*time.Minute

// kept makes sure that views of the open part are still there as they landed.
func (l *Long) kept(ctx context.Context, asOf time.Time) error {
	if asOf.Sub(l.start) > maxOpen {
		return fmt.Errorf("hours are recounted up to %s only, more than %s before %s", l.start.Format(time.RFC3339), maxOpen, asOf.Format(time.RFC3339))
	}
	if l.start.Before(l.open.keptSince) {
		return fmt.Errorf("hours are recounted up to %s only: %w", l.start.Format(time.RFC3339), ErrNotKept)
	}
	if asOf.Sub(l.start) < checkKept {
		return nil
	}
	first, err := l.firstLanded(ctx, asOf)
	if err != nil || !l.start.Before(first) {
		return err
	}
	_, events, err := l.events(ctx, l.start, first)
	if err == nil && events > 0 {
		err = fmt.Errorf("hours are recounted up to %s only, and views landed from %s on: %w", l.start.Format(time.RFC3339), first.Format(time.RFC3339), ErrNotKept)
	}
	return err
}

// firstLanded is the hour of the earliest views that are kept as they landed, asOf when there are none.
func (l *Long) firstLanded(ctx context.Context, asOf time.Time) (time.Time, error) {
	first := asOf
	err := questions.Read(ctx, l.conn, "first_landed", nil, questionBudget, func(r driver.Rows) error {
		var second time.Time
		var views uint64
		if err := r.Scan(&second, &views); err != nil {
			return err
		}
		if views > 0 {
			first = second.UTC().Truncate(time.Hour)
		}
		return nil
	})
	return first, err
}

// stitch makes the lists of windows whose open parts are the same.
func (l *Long) stitch(ctx context.Context, windows []stitched, start, asOf time.Time, types []string) ([]*list.List, error) {
	q := question{window: list.Window{Name: longName, Length: asOf.Sub(start)}, from: start, asOf: asOf, types: types}
	var found answers
	if start.Before(asOf) && len(types) > 0 {
		var err error
		found, err = l.open.answer(ctx, q, func(named map[string]*nomination) map[string]*nomination { return widen(named, windows) })
		if err != nil {
			return nil, err
		}
	} else {
		found.counted.method = list.MethodExact
	}
	var lists []*list.List
	for _, w := range windows {
		for _, itemType := range types {
			made, err := w.list(ctx, itemType, asOf, found, l.open.viewers)
			if err != nil {
				return nil, err
			}
			lists = append(lists, made)
		}
	}
	return lists, nil
}

// widen adds the items that closed hours have brought into reach of a list, whatever they had since.
func widen(named map[string]*nomination, windows []stitched) map[string]*nomination {
	wide := make(map[string]*nomination, len(named))
	for itemType, n := range named {
		w := *n
		w.items = slices.Clone(n.items)
		known := make(map[string]bool, len(n.items))
		for _, item := range n.items {
			known[item.id] = true
		}
		for _, window := range windows {
			top := window.base.types[itemType]
			if top == nil {
				continue
			}
			enough := top.enough(n)
			for _, item := range top.items {
				if item.Views+n.unseen < enough {
					break
				}
				if !known[item.ItemID] {
					known[item.ItemID] = true
					w.items = append(w.items, nominee{id: item.ItemID, upper: n.unseen})
				}
			}
		}
		wide[itemType] = &w
	}
	return wide
}

// enough is what as many items as a list stores have in any case. Who cannot reach it is not in the list.
func (top *baseTop) enough(n *nomination) uint64 {
	lowers := make([]uint64, 0, len(top.items))
	open := map[string]uint64{}
	if n != nil && n.once {
		for _, item := range n.items {
			open[item.id] = item.lower
			if _, ok := top.views[item.id]; !ok {
				lowers = append(lowers, item.lower)
			}
		}
	}
	for id, views := range top.views {
		lowers = append(lowers, views+open[id])
	}
	if len(lowers) < list.StoredItems {
		return 0
	}
	slices.Sort(lowers)
	return lowers[len(lowers)-list.StoredItems]
}

// list stitches one list together. An item that is not counted here has no more than the floor: not in the exact part and not named,
// it has both floors at most; what is dropped on the way raises the floor to what it may have.
func (w stitched) list(ctx context.Context, itemType string, asOf time.Time, found answers, filter *viewers.Filter) (*list.List, error) {
	top, n := w.base.types[itemType], found.named[itemType]
	made := &list.List{ItemType: itemType, Window: w.window.Name, Slice: list.GlobalSlice, From: w.from(), AsOf: asOf,
		ExactUntil: w.base.cover.Exact(), Method: found.counted.method, Revised: w.base.cover.Revised, Partial: []string{},
		Total: top.total + found.counted.totals[itemType], MaxOvercount: found.repeats[itemType]}
	var unseen uint64
	open := map[string]list.Interval{}
	if n != nil {
		unseen = n.unseen
		for _, item := range n.items { // that they are counted says a zero, too
			open[item.id] = found.counted.counts[itemType][item.id]
		}
	}
	made.Floor = top.floor + unseen
	enough := top.enough(n)
	var risers []string
	for id, views := range open {
		if _, ok := top.views[id]; ok {
			continue
		}
		if most := top.floor + views.Upper; most < enough {
			made.Floor = max(made.Floor, most)
		} else {
			risers = append(risers, id)
		}
	}
	if err := w.base.ask(ctx, itemType, risers); err != nil {
		return nil, err
	}
	counted := make(map[string]list.Interval, len(open)+len(top.items))
	repeated := found.repeats[itemType] // any of the items may have all of them, of its views since the hours closed
	for id, views := range open {
		if exact, ok := top.views[id]; ok {
			counted[id] = list.Interval{Lower: exact + views.Lower - min(repeated, views.Lower), Upper: exact + views.Upper}
		}
	}
	for _, item := range top.items {
		switch _, ok := open[item.ItemID]; {
		case ok:
		case n == nil:
			counted[item.ItemID] = list.Interval{Lower: item.Views, Upper: item.Views}
		default:
			made.Floor = max(made.Floor, item.Views+unseen)
		}
	}
	made.Floor += found.late[itemType]
	lot := &viewers.Lot{ItemType: itemType, Items: counted, Stored: list.StoredItems}
	filter.Screen(ctx, viewers.Window{Name: made.Window, From: made.From, AsOf: asOf}, lot)
	made.Fill(lot.Items, 0, list.StoredItems)
	filter.Mark(made, lot)
	w.base.next.Widen(made)
	return made, nil
}

// from is where the window begins; all time with the first hour that anything is known of.
func (w stitched) from() time.Time {
	if w.window.Length > 0 {
		return w.base.cover.From
	}
	if first := w.base.cover.First; !first.IsZero() {
		return first
	}
	return w.start
}
