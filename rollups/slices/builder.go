package slices

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/list"
)

// ErrNotFilled says that a minute of the window has not been filled yet.
var ErrNotFilled = errors.New("a minute of the window is not filled")

// maxTogether bounds the unions of one question: each may hold a thousand items a minute.
const maxTogether = 64

// leastLoose items of a union are counted in any case.
const leastLoose = 2

// Builder makes lists of slices and unions. It publishes nothing, holds nothing between two builds, and is safe for concurrent use.
type Builder struct {
	conn   driver.Conn
	config Config
}

// NewBuilder returns a builder on a connection.
func NewBuilder(conn driver.Conn, config Config) *Builder {
	return &Builder{conn: conn, config: config}
}

// moment is what is known of a window before any slice is looked at.
type moment struct {
	window      list.Window
	from, until time.Time
	began       time.Time // on the wall clock
	span        span
	landed      map[string]uint64 // by item type
	views       map[string]uint64 // that the slices hold
	excess      map[string]uint64 // views that counts_minute took in twice
	uncountable map[string]bool   // counts_minute lacked views when a minute was filled
	repeats     map[string]uint64 // views of events that were sent more than once
}

// busy is a slice, and the views of all its items.
type busy struct {
	Key
	views uint64
	pair  bool // of two dimensions
}

// busiest are the slices of most views of each item type in the window that ends at until, most of each type, pairs last.
func (b *Builder) busiest(ctx context.Context, window list.Window, until time.Time, most int) ([]busy, error) {
	m, err := b.moment(ctx, window, until)
	if err != nil || len(m.span.minutes) == 0 {
		return nil, err
	}
	var found []busy
	p := parameters{"types": slices.Sorted(maps.Keys(m.landed)), "minutes": m.span.minutes, "versions": m.span.versions, "most": most}
	err = b.config.read(ctx, b.conn, "slices", p, func(rows driver.Rows) error {
		var one busy
		if err := rows.Scan(&one.ItemType, &one.Union, &one.views, &one.pair); err != nil {
			return err
		}
		found = append(found, one)
		return nil
	})
	return found, err
}

// Made is what a build has found.
type Made struct {
	Lists   []*list.List
	named   map[Key][]string    // items that may be in the lists
	members map[string][]string // of unions, by name
}

// Build makes the lists of the window that ends at until, a whole minute that is not after the horizon: one of every union wanted of an item
// type, of at most stored items each.
func (b *Builder) Build(ctx context.Context, window list.Window, until time.Time, wanted map[string][]Union, stored int) (*Made, error) {
	m, err := b.moment(ctx, window, until)
	if err != nil {
		return nil, err
	}
	if err := b.repeats(ctx, m); err != nil {
		return nil, err
	}
	found, unions := make(map[Key]*counted), 0
	for _, of := range wanted {
		unions += len(of)
	}
	for _, part := range together(wanted) {
		if err := b.count(ctx, m, part, stored, max(b.config.Loose/max(unions, 1), leastLoose), found); err != nil {
			return nil, err
		}
	}
	// What landed meanwhile, or had landed since the minutes were filled, may be any item's.
	late, err := b.late(ctx, m)
	if err != nil {
		return nil, err
	}
	made := &Made{named: map[Key][]string{}, members: map[string][]string{}}
	for _, itemType := range slices.Sorted(maps.Keys(wanted)) {
		for _, u := range wanted[itemType] {
			key := Key{itemType, u.Name}
			made.members[u.Name] = u.Members
			made.Lists = append(made.Lists, m.list(key, found[key], late[itemType], stored))
			if c := found[key]; c != nil {
				made.named[key] = c.named
			}
		}
	}
	return made, nil
}

// moment reads what is known of the minutes of a window.
func (b *Builder) moment(ctx context.Context, window list.Window, until time.Time) (*moment, error) {
	from := until.Add(-window.Length)
	known, err := readLedger(ctx, b.conn, b.config, from, until)
	if err != nil {
		return nil, err
	}
	m := &moment{window: window, from: from, until: until, began: time.Now(), span: span{left: map[string]uint64{}}, landed: map[string]uint64{},
		views: map[string]uint64{}, excess: map[string]uint64{}, uncountable: map[string]bool{}, repeats: map[string]uint64{}}
	for _, minute := range slices.SortedFunc(maps.Keys(known), time.Time.Compare) {
		version := uint64(0)
		landed := uint64(0)
		for itemType, e := range known[minute] {
			version = max(version, e.version)
			landed += e.landed
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
			return nil, fmt.Errorf("%s: %w", minute.Format(time.RFC3339), ErrNotFilled)
		}
		if version > 0 {
			m.span.minutes, m.span.versions = append(m.span.minutes, minute), append(m.span.versions, version)
		}
	}
	return m, b.untimed(ctx, m, known)
}

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
	p := parameters{"types": types, "from": m.from, "until": m.until, "untimed": untimed}
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
	now, err := readLedger(ctx, b.conn, b.config, m.from, m.until)
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

// part is unions that one question can be about: no slice is in two of them.
type part struct {
	types  []string
	unions []Union
	wanted map[Key]bool
}

// together puts unions into as few questions as may be.
func together(wanted map[string][]Union) []*part {
	byName := map[string]Union{}
	types := map[string][]string{} // by name of a union
	for _, itemType := range slices.Sorted(maps.Keys(wanted)) {
		for _, u := range wanted[itemType] {
			byName[u.Name] = u
			types[u.Name] = append(types[u.Name], itemType)
		}
	}
	var parts []*part
	taken := []map[string]bool{} // members, by part
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		u, at := byName[name], 0
		for at < len(parts) && (len(parts[at].wanted)+len(types[name]) > maxTogether && len(parts[at].wanted) > 0 ||
			slices.ContainsFunc(u.Members, func(member string) bool { return taken[at][member] })) {
			at++
		}
		if at == len(parts) {
			parts, taken = append(parts, &part{wanted: map[Key]bool{}}), append(taken, map[string]bool{})
		}
		p := parts[at]
		p.unions = append(p.unions, u)
		for _, member := range u.Members {
			taken[at][member] = true
		}
		for _, itemType := range types[name] {
			p.wanted[Key{itemType, name}] = true
			if !slices.Contains(p.types, itemType) {
				p.types = append(p.types, itemType)
			}
		}
	}
	return parts
}

// list puts a list together.
func (m *moment) list(key Key, c *counted, late uint64, stored int) *list.List {
	made := &list.List{ItemType: key.ItemType, Window: m.window.Name, Slice: key.Union, From: m.from, AsOf: m.until,
		Method: list.MethodVerified, Partial: []string{}, Floor: late}
	var items map[string]list.Interval
	var repeated uint64
	if c != nil {
		made.Total, made.Method = c.views, c.method
		made.Floor += c.unseen
		repeated = min(m.repeats[key.ItemType], c.views)
		items = c.items
	} else if left := m.span.left[key.ItemType]; left > 0 { // it may have been left out everywhere
		made.Method = list.MethodEstimated
		made.Floor += left
	}
	made.MaxOvercount = repeated
	made.Fill(items, repeated, stored)
	if len(made.Items) == 0 && made.Floor > 0 {
		made.Reason = fmt.Sprintf("no %s is known to stand out: each has %d views at most", key.ItemType, made.Floor)
	}
	if late > 0 {
		for i := range made.Items {
			made.Items[i].Upper += late
		}
		made.Certified = made.CertifiedTo(list.MaxK)
	}
	return made
}
