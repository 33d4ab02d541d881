package rollups

import (
	"context"
	"maps"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/list"
)

const (
	// wholeRows is the number of events up to which a window is counted anew at every build: about 50 ms.
	wholeRows = 1_000_000
	// anchorLife is how long a whole count is carried on by looking up what is new: an anchor that is older covers more than
	// the window by as much, and so bounds it less tightly.
	anchorLife = 10 * time.Second
)

// duplicates bounds how many views of a window were sent more than once: what landed less the distinct events. More time can
// only hold more repeats, so a count over a range that covers the window bounds it too.
//
// A window of more than limit events is the sum of its closed minutes, each counted once, and the newest minute. A repeat
// whose time was changed into another minute is then left to the hourly recount.
type duplicates struct {
	conn    driver.Conn
	limit   uint64
	anchors map[string]anchor     // by window
	minutes map[time.Time]counted // closed minutes
}

// anchor is a whole count of a range.
type anchor struct {
	span
	events map[string]uint64
}

type counted struct {
	landed map[string]uint64
	events map[string]uint64
}

// distincts are distinct events of one range, by item type, never more than there are.
type distincts struct {
	span
	events map[string]uint64
}

func newDuplicates(conn driver.Conn, limit uint64) *duplicates {
	return &duplicates{conn: conn, limit: limit, anchors: map[string]anchor{}, minutes: map[time.Time]counted{}}
}

// distinct counts the distinct events of ranges that together cover the window.
func (d *duplicates) distinct(ctx context.Context, q question) ([]distincts, error) {
	landed, err := landedMinutes(ctx, d.conn, q.types, span{q.from.Truncate(time.Minute), q.asOf})
	if err != nil {
		return nil, err
	}
	if size := largest(landed.totals()); size <= d.limit {
		one, err := d.window(ctx, q, span{q.from, q.asOf}, size)
		return []distincts{one}, err
	}
	return d.byMinute(ctx, q, landed)
}

func largest(totals map[string]uint64) uint64 {
	var sum uint64
	for _, views := range totals {
		sum += views
	}
	return sum
}

// window counts one range, from its start when it is small or nothing is known, else from the anchor on.
func (d *duplicates) window(ctx context.Context, q question, s span, size uint64) (distincts, error) {
	at, ok := d.anchors[q.window.Name]
	usable := ok && size > wholeRows && !at.from.After(s.from) && !at.until.After(s.until) && s.until.Sub(at.until) <= anchorLife
	if !usable {
		events, err := d.count(ctx, q.types, s)
		if err != nil {
			return distincts{}, err
		}
		at = anchor{span: s, events: events}
		d.anchors[q.window.Name] = at
	}
	events := maps.Clone(at.events)
	if at.until.Before(s.until) {
		if err := d.since(ctx, q.types, at, s.until, events); err != nil {
			return distincts{}, err
		}
	}
	return distincts{span{at.from, s.until}, events}, nil
}

func (d *duplicates) count(ctx context.Context, types []string, s span) (map[string]uint64, error) {
	events := map[string]uint64{}
	p := parameters{"types": types, "from": s.from, "until": s.until}
	err := read(ctx, d.conn, "distinct", p, questionBudget, func(r driver.Rows) error {
		var itemType string
		var n uint64
		if err := r.Scan(&itemType, &n); err != nil {
			return err
		}
		events[itemType] = n
		return nil
	})
	return events, err
}

// since adds what is new after an anchor. Late arrivals inside the anchor that are repeated after it are taken off although
// the anchor does not hold them: the sum stays at or under the truth.
func (d *duplicates) since(ctx context.Context, types []string, at anchor, until time.Time, events map[string]uint64) error {
	p := parameters{"types": types, "from": at.from, "since": at.until, "until": until}
	return read(ctx, d.conn, "distinct_since", p, questionBudget, func(r driver.Rows) error {
		var itemType string
		var fresh, repeated uint64
		if err := r.Scan(&itemType, &fresh, &repeated); err != nil {
			return err
		}
		events[itemType] += fresh
		events[itemType] -= min(repeated, events[itemType])
		return nil
	})
}

// byMinute covers the window by whole closed minutes and the newest one.
func (d *duplicates) byMinute(ctx context.Context, q question, landed minuteTotals) ([]distincts, error) {
	open := q.asOf.Truncate(time.Minute)
	var found []distincts
	for m := q.from.Truncate(time.Minute); m.Before(open); m = m.Add(time.Minute) {
		s := span{m, m.Add(time.Minute)}
		have, ok := d.minutes[m]
		if !ok || !maps.Equal(have.landed, landed[m]) {
			events, err := d.count(ctx, q.types, s)
			if err != nil {
				return nil, err
			}
			have = counted{landed: landed[m], events: events}
			d.minutes[m] = have
		}
		found = append(found, distincts{s, have.events})
	}
	maps.DeleteFunc(d.minutes, func(m time.Time, _ counted) bool {
		return m.Before(q.asOf.Add(-2 * list.Windows[len(list.Windows)-1].Length))
	})
	if open.Before(q.asOf) {
		newest, err := d.window(ctx, q, span{open, q.asOf}, largest(landed[open]))
		if err != nil {
			return nil, err
		}
		found = append(found, newest)
	}
	return found, nil
}

// repeats is what landed in the ranges beyond their distinct events. It is asked after distinct, so that a late arrival
// between the two can only raise it.
func (d *duplicates) repeats(ctx context.Context, q question, found []distincts) (map[string]uint64, error) {
	sums := map[string]uint64{}
	for _, f := range joined(found) {
		landed, err := landedMinutes(ctx, d.conn, q.types, f.span)
		if err != nil {
			return nil, err
		}
		for itemType, views := range landed.totals() {
			sums[itemType] += views - min(views, f.events[itemType])
		}
	}
	return sums, nil
}

// joined merges ranges that follow one another.
func joined(found []distincts) []distincts {
	var out []distincts
	for _, f := range found {
		last := len(out) - 1
		if last < 0 || !out[last].until.Equal(f.from) {
			out = append(out, distincts{f.span, maps.Clone(f.events)})
			continue
		}
		out[last].until = f.until
		for itemType, n := range f.events {
			out[last].events[itemType] += n
		}
	}
	return out
}
