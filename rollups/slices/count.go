package slices

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

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

// count finds out the views of the items that may be in the lists of a part: as far as the minutes say them they are added up, and of
// each union up to most of the others are counted, the likeliest first. What is not counted is in no list, only in its bounds: its upper bound
// would put noise above items whose views are known.
func (b *Builder) count(ctx context.Context, m *moment, p *part, stored, most int, into map[Key]*counted) error {
	if len(m.span.minutes) == 0 {
		return nil
	}
	named, err := b.merge(ctx, m.span, p.types, p.unions, stored)
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
func (n *nomination) counted(views map[loose]map[string]uint64, key Key, m *moment) *counted {
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
		found, asked := views[loose{key.Union, item.id}]
		if !asked {
			c.unseen = max(c.unseen, item.upper)
			continue
		}
		views := found[key.ItemType]
		lower := max(item.lower, views-min(views, m.excess[key.ItemType]))
		c.items[item.id] = list.Interval{Lower: lower, Upper: max(lower, views)}
	}
	return c
}

// countLoose asks counts_minute for items by union, a bounded part at a time, as far as the budget of a build reaches. It returns views by
// item type of those it asked for.
func (b *Builder) countLoose(ctx context.Context, m *moment, p *part, types map[string]bool, open []loose) (map[loose]map[string]uint64, error) {
	views := map[loose]map[string]uint64{}
	members, names := membersOf(p.unions)
	for len(open) > 0 && time.Since(m.began) < b.config.CountBudget {
		var unions, ids []string
		size, n := 0, 0
		for ; n < len(open) && n < maxAsked && size < maxAskedBytes; n++ {
			unions, ids = append(unions, open[n].union), append(ids, open[n].id)
			size += len(open[n].union) + len(open[n].id) + 8
		}
		asked := parameters{"types": sorted(types), "minutes": m.span.minutes, "dimensions": b.config.dimensions(),
			"members": members, "names": names, "unions": unions, "ids": ids}
		found := make(map[loose]map[string]uint64, n)
		for _, l := range open[:n] {
			found[l] = map[string]uint64{}
		}
		err := b.config.read(ctx, b.conn, "count", asked, func(rows driver.Rows) error {
			var itemType string
			var l loose
			var n uint64
			if err := rows.Scan(&itemType, &l.union, &l.id, &n); err != nil {
				return err
			}
			if found[l] != nil {
				found[l][itemType] = n
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		maps.Copy(views, found)
		open = open[n:]
	}
	return views, nil
}

func sorted(set map[string]bool) []string {
	all := make([]string, 0, len(set))
	for name := range set {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}
