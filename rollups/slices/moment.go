package slices

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/list"
	"topk/rollups/recount"
)

// moment is what is known of a window before any slice is looked at. What is closed of it has been counted exactly, what is open as it
// landed, minute by minute. A live window is wholly open.
type moment struct {
	window            list.Window
	from, open, until time.Time
	budget            time.Duration // that is left for counting, and how many parts still share it
	partsLeft         int
	closed            closed
	span              span
	landed            map[string]uint64 // by item type, in the open part
	views             map[string]uint64 // that the slices hold of it
	excess            map[string]uint64 // views that counts_minute took in twice
	types             []string          // that lists are wanted of
	uncountable       map[string]bool   // counts_minute lacked views when a minute was filled
	repeats           map[string]uint64 // views of events that were sent more than once
}

func newMoment(window list.Window, from, until time.Time, types []string) *moment {
	return &moment{types: types, window: window, from: from, open: from, until: until, closed: closed{cover: &recount.Cover{}}, span: span{left: map[string]uint64{}},
		landed: map[string]uint64{}, views: map[string]uint64{}, excess: map[string]uint64{}, uncountable: map[string]bool{}, repeats: map[string]uint64{}}
}

// moment reads what is known of a window that ends at until, of the busiest item types and some others.
func (b *Builder) moment(ctx context.Context, window list.Window, until time.Time, types ...string) (*moment, error) {
	m := newMoment(window, window.From(until), until, types)
	m.budget = b.config.CountBudget
	if slices.ContainsFunc(list.Long, func(w list.Window) bool { return w.Name == window.Name }) {
		covers, err := recount.ReadCovers(ctx, b.conn, []time.Time{m.from}, until.Truncate(time.Hour))
		if err != nil {
			return nil, err
		}
		if err := b.close(ctx, m, covers[0]); err != nil {
			return nil, err
		}
	}
	return m, b.open(ctx, m)
}

// open reads what is known of the minutes of the open part.
func (b *Builder) open(ctx context.Context, m *moment) error {
	known, err := readLedger(ctx, b.conn, b.config, m.open, m.until, m.types...)
	if err != nil {
		return err
	}
	for _, minute := range slices.SortedFunc(maps.Keys(known), time.Time.Compare) {
		if err := m.add(minute, known[minute]); err != nil {
			return err
		}
	}
	return b.untimed(ctx, m, known)
}

// add takes a minute of the open part in.
func (m *moment) add(minute time.Time, types map[string]entry) error {
	var version, landed uint64
	for itemType, e := range types {
		version = max(version, e.version)
		if e.busy {
			landed += e.landed
		}
		m.landed[itemType] += e.landed
		m.views[itemType] += e.views
		m.excess[itemType] += e.taken - min(e.taken, e.landed)
		m.repeats[itemType] += e.repeats + e.ahead
		m.span.left[itemType] += e.left
		if e.held < e.views {
			m.uncountable[itemType] = true
		}
	}
	if version == 0 && landed > 0 {
		return fmt.Errorf("minute %s: %w", minute.Format(time.RFC3339), ErrNotFilled)
	}
	if version > 0 {
		m.span.minutes, m.span.versions = append(m.span.minutes, minute), append(m.span.versions, version)
	}
	return nil
}

// empty says that nothing is known to have been viewed in the window.
func (m *moment) empty() bool { return len(m.span.minutes) == 0 && len(m.closed.parts) == 0 }

// untimed adds the repeats of events without a time of their own that are in several minutes, or all of them where there are too many to
// tell.
func (b *Builder) untimed(ctx context.Context, m *moment, known ledger) error {
	untimed := map[string]uint64{}
	var all uint64
	for _, types := range known {
		for itemType, e := range types {
			if e.untimed > 0 {
				untimed[itemType] += e.untimed
				all += e.untimed
			}
		}
	}
	if all == 0 {
		return nil
	}
	if all > b.config.DistinctRows {
		for itemType, n := range untimed {
			m.repeats[itemType] += n
		}
		return nil
	}
	distinct, err := b.distinct(ctx, m, slices.Collect(maps.Keys(untimed)), 1)
	for itemType, n := range untimed {
		m.repeats[itemType] += n - min(n, distinct[itemType].events)
	}
	return err
}

// repeats finds, in a window of few events, those as well whose client gave them another time when it sent them again.
func (b *Builder) repeats(ctx context.Context, m *moment) error {
	var all uint64
	for _, views := range m.landed {
		all += views
	}
	if all == 0 || all > b.config.DistinctRows {
		return nil
	}
	distinct, err := b.distinct(ctx, m, slices.Collect(maps.Keys(m.landed)), 0)
	for itemType, views := range m.landed {
		d := distinct[itemType]
		m.repeats[itemType] = max(m.repeats[itemType], max(views, d.arrived)-d.events)
	}
	return err
}

// distinct is how many events arrived of an item type, repeats included, and how many distinct ones.
type distinct struct{ arrived, events uint64 }

func (b *Builder) distinct(ctx context.Context, m *moment, types []string, untimed int) (map[string]distinct, error) {
	found := map[string]distinct{}
	p := parameters{"types": types, "from": m.open, "until": m.until, "untimed": untimed}
	err := b.config.read(ctx, b.conn, "distinct", p, func(rows driver.Rows) error {
		var itemType string
		var d distinct
		if err := rows.Scan(&itemType, &d.arrived, &d.events); err != nil {
			return err
		}
		found[itemType] = d
		return nil
	})
	return found, err
}

// late is, by item type, what has landed and is not in the slices.
func (b *Builder) late(ctx context.Context, m *moment) (map[string]uint64, error) {
	now, err := readLedger(ctx, b.conn, b.config, m.open, m.until, m.types...)
	late := map[string]uint64{}
	for _, types := range now {
		for itemType, e := range types {
			late[itemType] += e.landed
		}
	}
	for itemType := range late {
		late[itemType] -= min(late[itemType], m.views[itemType])
	}
	return late, err
}
