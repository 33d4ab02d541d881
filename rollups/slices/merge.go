package slices

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Union is slices that share no view, and the name of them together. A slice by itself is a union of one.
type Union struct {
	Name    string
	Members []string
}

// Key names the list of a union in one item type.
type Key struct{ ItemType, Union string }

// nominee is an item that may be among the most viewed of a union.
type nominee struct {
	id           string
	lower, upper uint64 // as landed, when the minutes were filled, and exact before
}

// nomination holds the candidates of a union.
type nomination struct {
	items  []nominee
	views  uint64 // of all items
	floors uint64 // no item that no minute holds has more views
	taken  uint64 // what an item may have of what is taken away, where that does not hold it
	unseen uint64 // no item that is not among the candidates has more views
	whole  bool   // no slice of it was left out of a minute
}

// span is the minutes that the open part of lists is added up from.
type span struct {
	minutes  []time.Time
	versions []uint64
	left     map[string]uint64 // by item type: what a slice without a row in any of the minutes has at most
}

// merge adds up what the minutes hold, and chooses who may be among the first stored of each union.
func (b *Builder) merge(ctx context.Context, m *moment, types []string, unions []Union, stored int) (map[Key]*nomination, error) {
	found := map[Key]*nomination{}
	members, names := membersOf(unions)
	size := map[string]int{}
	for _, u := range unions {
		size[u.Name] = len(u.Members)
	}
	most := 2*stored + 100
	p := parameters{"types": types, "minutes": m.span.minutes, "versions": m.span.versions, "members": members, "names": names, "most": most + 1}
	m.closed.name(p)
	err := b.config.read(ctx, b.conn, "floors", p, func(rows driver.Rows) error {
		var key Key
		n := &nomination{}
		var views int64
		var left, leftTaken uint64
		if err := rows.Scan(&key.ItemType, &key.Union, &views, &n.floors, &n.taken, &left, &leftTaken); err != nil {
			return err
		}
		// What was left out of the slices that have no row somewhere.
		absent := (m.span.left[key.ItemType]+m.closed.left[key.ItemType])*uint64(size[key.Union]) - left
		absentTaken := m.closed.leftTaken[key.ItemType]*uint64(size[key.Union]) - leftTaken
		n.views, n.floors, n.taken = uint64(max(views, 0)), n.floors+absent, n.taken+absentTaken
		n.unseen, n.whole = n.floors, absent == 0 && absentTaken == 0
		found[key] = n
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = b.config.read(ctx, b.conn, "merge", p, func(rows driver.Rows) error {
		var key Key
		var id string
		var over, under int64
		if err := rows.Scan(&key.ItemType, &key.Union, &id, &over, &under); err != nil {
			return err
		}
		n := found[key]
		if n == nil {
			return fmt.Errorf("%s has items, and no views", key.Union)
		}
		n.items = append(n.items, nominee{id: id, lower: uint64(max(under-int64(n.taken), 0)), upper: uint64(max(over+int64(n.floors), 0))})
		return nil
	})
	for _, n := range found {
		n.choose(most, stored)
	}
	return found, err
}

// choose keeps those that may be among the first stored. Items come with the greatest upper bound first, of which the last stands for all
// after it when there are more than most.
func (n *nomination) choose(most, stored int) {
	if len(n.items) > most {
		n.unseen = max(n.unseen, n.items[most].upper)
		n.items = n.items[:most]
	}
	if len(n.items) <= stored {
		return
	}
	lowers := make([]uint64, len(n.items))
	for i, item := range n.items {
		lowers[i] = item.lower
	}
	slices.SortFunc(lowers, func(a, b uint64) int { return cmp.Compare(b, a) })
	enough := lowers[stored-1]
	kept, _ := slices.BinarySearchFunc(n.items, enough, func(item nominee, enough uint64) int {
		if item.upper >= enough {
			return -1
		}
		return 1
	})
	if kept < len(n.items) {
		n.unseen = max(n.unseen, n.items[kept].upper)
		n.items = n.items[:kept]
	}
}

// membersOf are all members of unions, and beside each the name of its union.
func membersOf(unions []Union) (members, names []string) {
	for _, u := range unions {
		for _, m := range u.Members {
			members, names = append(members, m), append(names, u.Name)
		}
	}
	return members, names
}
