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
	"topk/rollups/viewers"
)

// ErrNotFilled says that a minute or a closed hour of the window has not been filled yet.
var ErrNotFilled = errors.New("not filled yet")

// maxTogether bounds the unions of one question: each may hold a thousand items a minute.
const maxTogether = 64

// leastLoose items of a union are counted in any case.
const leastLoose = 2

// Builder makes lists of slices and unions. It publishes nothing, holds nothing between two builds, and is safe for concurrent use.
type Builder struct {
	conn    driver.Conn
	config  Config
	viewers *viewers.Filter
}

// NewBuilder returns a builder on a connection.
func NewBuilder(conn driver.Conn, config Config) *Builder {
	return &Builder{conn: conn, config: config}
}

// Screen has items with too few viewers, over all slices, left out; nil leaves none out.
func (b *Builder) Screen(f *viewers.Filter) { b.viewers = f }

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
	m, err := b.moment(ctx, window, until, slices.Sorted(maps.Keys(wanted))...)
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
	parts := together(wanted)
	for n, part := range parts {
		m.partsLeft = len(parts) - n
		if err := b.count(ctx, m, part, b.named(stored), max(b.config.Loose/max(unions, 1), leastLoose), found); err != nil {
			return nil, err
		}
	}
	// What landed meanwhile, or had landed since the minutes were filled, may be any item's.
	late, err := b.late(ctx, m)
	if err != nil {
		return nil, err
	}
	lots := b.screen(ctx, m, found, stored)
	made := &Made{named: map[Key][]string{}, members: map[string][]string{}}
	for _, itemType := range slices.Sorted(maps.Keys(wanted)) {
		for _, u := range wanted[itemType] {
			key := Key{itemType, u.Name}
			made.members[u.Name] = u.Members
			l := m.list(key, len(u.Members), found[key], late[itemType], stored)
			made.Lists = append(made.Lists, l)
			if c := found[key]; c != nil {
				b.viewers.Mark(l, lots[key])
				made.named[key] = c.named
			}
		}
	}
	return made, nil
}

// named is how many items of a slice are looked at for a list: twice as many where some may be left out.
func (b *Builder) named(stored int) int {
	if b.viewers == nil {
		return stored
	}
	return 2 * stored
}

// screen leaves items out of what was found.
func (b *Builder) screen(ctx context.Context, m *moment, found map[Key]*counted, stored int) map[Key]*viewers.Lot {
	lots := make(map[Key]*viewers.Lot, len(found))
	for key, c := range found {
		lots[key] = &viewers.Lot{ItemType: key.ItemType, Items: c.items, Stored: stored}
	}
	b.viewers.Screen(ctx, viewers.Window{Name: m.window.Name, From: m.from, AsOf: m.until}, slices.Collect(maps.Values(lots))...)
	return lots
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

// list puts the list of a union of so many slices together.
func (m *moment) list(key Key, members int, c *counted, late uint64, stored int) *list.List {
	made := &list.List{ItemType: key.ItemType, Window: m.window.Name, Slice: key.Union, From: m.from, AsOf: m.until,
		ExactUntil: m.closed.cover.Exact(), Revised: m.closed.cover.Revised, Method: list.MethodVerified, Partial: []string{}, Floor: late}
	var items map[string]list.Interval
	var repeated uint64
	if c != nil {
		made.Total, made.Method = c.views, c.method
		made.Floor += c.unseen
		repeated = min(m.repeats[key.ItemType], c.views)
		items = c.items
	} else if left := m.span.left[key.ItemType] + m.closed.left[key.ItemType]; left > 0 { // it may have been left out everywhere
		made.Method = list.MethodEstimated
		made.Floor += left * uint64(members)
	}
	if made.Method == list.MethodVerified && m.open.Equal(m.until) {
		made.Method = list.MethodExact
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
	m.closed.cover.Widen(made)
	return made
}
