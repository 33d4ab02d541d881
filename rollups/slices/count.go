package slices

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/clickhouse"
	"topk/internal/list"
)

// maxAskedBytes bounds the items of one question: parameters travel in the URL, where servers accept a megabyte, and escapes may triple
// them.
const maxAskedBytes = 200 << 10

// maxAsked bounds them by number: the time of a build is looked at in between.
const maxAsked = 200

// counted is what is known of the views of a union.
type counted struct {
	method string
	views  uint64 // of all items
	unseen uint64 // no other item has more
	items  map[string]list.Interval
	named  []string // that may be among the most viewed, also those that are not counted; the likeliest first
}

// loose is an item whose views the minutes leave open.
type loose struct {
	union, id string
}

// views of an item: as landed, replays included, and exact before.
type views struct{ landed, exact uint64 }

// count finds out the views of the items that may be in the lists of a part: as far as the minutes say them they are added up, and of
// each union up to most of the others are counted, the likeliest first. What is not counted is in no list, only in its bounds: its upper bound
// would put noise above items whose views are known.
func (b *Builder) count(ctx context.Context, m *moment, p *part, stored, most int, into map[Key]*counted) error {
	if m.empty() {
		return nil
	}
	named, err := b.merge(ctx, m, p.types, p.unions, stored)
	if err != nil {
		return err
	}
	var open []loose
	types := map[string]bool{}
	for key, n := range named {
		if !p.wanted[key] {
			delete(named, key)
			continue
		}
		slices.SortFunc(n.items, func(a, b nominee) int { return cmp.Or(cmp.Compare(b.lower, a.lower), cmp.Compare(a.id, b.id)) })
		left := most
		for _, item := range n.items {
			if item.lower < item.upper && !m.uncountable[key.ItemType] && left > 0 {
				open = append(open, loose{key.Union, item.id})
				types[key.ItemType] = true
				left--
			}
		}
	}
	views, err := b.countLoose(ctx, m, p, types, open)
	if err != nil {
		return err
	}
	for key, n := range named {
		into[key] = n.counted(views, key, m)
	}
	return nil
}

// counted takes over what the minutes say, and what was counted.
func (n *nomination) counted(found map[loose]map[string]views, key Key, m *moment) *counted {
	c := &counted{method: list.MethodVerified, views: n.views, unseen: n.unseen, items: make(map[string]list.Interval, len(n.items))}
	if !n.whole {
		c.method = list.MethodEstimated // of the slices that were left out of a minute the views are not known
	}
	for _, item := range n.items {
		c.named = append(c.named, item.id)
		if item.lower == item.upper {
			c.items[item.id] = list.Interval{Lower: item.lower, Upper: item.upper}
			continue
		}
		types, asked := found[loose{key.Union, item.id}]
		if !asked {
			c.unseen = max(c.unseen, item.upper)
			continue
		}
		n := types[key.ItemType]
		lower := max(item.lower, n.exact+n.landed-min(n.landed, m.excess[key.ItemType]))
		c.items[item.id] = list.Interval{Lower: lower, Upper: max(lower, n.exact+n.landed)}
	}
	return c
}

// countLoose asks for items by union, a bounded part at a time, as far as the budget of a build reaches. It returns views by item type of
// those it asked for.
func (b *Builder) countLoose(ctx context.Context, m *moment, p *part, types map[string]bool, open []loose) (map[loose]map[string]views, error) {
	counted := map[loose]map[string]views{}
	members, names := membersOf(p.unions)
	began := time.Now()
	until := began.Add(m.budget / time.Duration(m.partsLeft))
	defer func() { m.budget -= min(m.budget, time.Since(began)) }()
	for len(open) > 0 {
		left := time.Until(until)
		if left <= 0 {
			break
		}
		var unions, ids []string
		size, n := 0, 0
		for ; n < len(open) && n < maxAsked && size < maxAskedBytes; n++ {
			unions, ids = append(unions, open[n].union), append(ids, open[n].id)
			size += len(open[n].union) + len(open[n].id) + 8
		}
		asked := m.closed.cover.Parameters()
		asked["types"], asked["minutes"], asked["dimensions"] = sorted(types), m.span.minutes, b.config.dimensions()
		asked["members"], asked["names"], asked["unions"], asked["ids"] = members, names, unions, ids
		found := make(map[loose]map[string]views, n)
		for _, l := range open[:n] {
			found[l] = map[string]views{}
		}
		err := b.config.questions().Read(ctx, b.conn, "count", asked, left, func(rows driver.Rows) error {
			var itemType string
			var l loose
			var n views
			if err := rows.Scan(&itemType, &l.union, &l.id, &n.landed, &n.exact); err != nil {
				return err
			}
			if found[l] != nil {
				found[l][itemType] = n
			}
			return nil
		})
		if clickhouse.TimedOut(err) && ctx.Err() == nil {
			break // as if it had not been asked
		}
		if err != nil {
			return nil, err
		}
		maps.Copy(counted, found)
		open = open[n:]
	}
	return counted, nil
}

func sorted(set map[string]bool) []string {
	all := make([]string, 0, len(set))
	for name := range set {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}
