package rollups

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/list"
	"topk/rollups/recount"
)

const (
	// baseAsked bounds the items beside heads whose exact views are remembered until the next hour closes: of all windows and types
	// together, of which each has leastAsked.
	baseAsked, leastAsked = 1_000_000, 1000
	// baseBudget bounds one question about closed hours.
	baseBudget = 5 * time.Minute
)

// base is the exact part of a window: the most viewed items of every type in the closed hours, and a bound of all others.
type base struct {
	conn  driver.Conn
	heads *headCache
	most  int            // items of a type that are kept
	next  *recount.Cover // what the next list is made of
	cover *recount.Cover // what types are made of
	types map[string]*baseTop
}

// baseTop is the most viewed items of a type in a cover: what the heads of its partitions come to.
type baseTop struct {
	items []recount.Count   // greatest first
	views map[string]uint64 // of items, and of others that were asked for
	floor uint64            // no other item has more
	total uint64            // views of all items
}

// totals are the views of each item type in the next cover.
func (b *base) totals(ctx context.Context) (map[string]uint64, error) {
	added, taken := b.next.Parts()
	parts := slices.Concat(added, taken)
	if err := b.heads.totals(ctx, parts); err != nil {
		return nil, err
	}
	totals := map[string]uint64{}
	for n, p := range parts {
		for itemType, views := range b.heads.held[p].totals {
			if n < len(added) {
				totals[itemType] += views
			} else {
				totals[itemType] -= min(views, totals[itemType]) // those of most types are known, of a rare one perhaps not all
			}
		}
	}
	return totals, nil
}

// update brings the base to the next cover, for the types given. Nothing is asked while the cover is the same and every type is known.
func (b *base) update(ctx context.Context, types []string) error {
	same := b.cover != nil && b.cover.Equal(b.next)
	if same && !slices.ContainsFunc(types, func(t string) bool { return b.types[t] == nil }) {
		return nil
	}
	totals, err := b.totals(ctx)
	if err != nil {
		return err
	}
	keep := min(max(heldEntries/max(len(types)*b.next.Partitions(), 1), leastHeld), b.most)
	added, taken := b.next.Parts()
	if err := b.heads.load(ctx, slices.Concat(added, taken), types, keep); err != nil {
		return err
	}
	tops := make(map[string]*baseTop, len(types))
	for _, itemType := range types {
		top := b.types[itemType]
		if !same || top == nil {
			if top, err = b.top(ctx, itemType); err != nil {
				return err
			}
			top.total = totals[itemType]
		}
		tops[itemType] = top
	}
	b.cover, b.types = b.next, tops
	return nil
}

// busiest are the types given, and those of most views beside them, at most list.MaxMadeTypes in all.
func busiest(types []string, totals map[string]uint64) []string {
	wanted, others := slices.Clone(types), make([]string, 0, len(totals))
	for itemType, views := range totals {
		if views > 0 && !slices.Contains(types, itemType) {
			others = append(others, itemType)
		}
	}
	slices.SortFunc(others, func(a, b string) int { return cmp.Or(cmp.Compare(totals[b], totals[a]), cmp.Compare(a, b)) })
	wanted = append(wanted, others[:min(len(others), max(list.MaxMadeTypes-len(types), 0))]...)
	slices.Sort(wanted)
	return wanted
}

// sum is what the heads of partitions say of an item. Where it is in the head of a partition its views there are known, elsewhere they
// are no more than that partition's floor.
type sum struct {
	added, taken             uint64 // known views
	addedFloors, takenFloors uint64 // of the partitions where they are known
}

// top nominates from the heads of all partitions and verifies by key: an item has no more than its known views and the floors of the
// other partitions, one that is in no head no more than all floors.
func (b *base) top(ctx context.Context, itemType string) (*baseTop, error) {
	added, taken := b.next.Parts()
	sums := map[string]*sum{}
	var floors, takenFloors uint64
	for n, p := range slices.Concat(added, taken) {
		h := b.heads.held[p].types[itemType]
		if n < len(added) {
			floors += h.floor
		} else {
			takenFloors += h.floor
		}
		for id, views := range h.views {
			s := sums[id]
			if s == nil {
				s = &sum{}
				sums[id] = s
			}
			if n < len(added) {
				s.added, s.addedFloors = s.added+views, s.addedFloors+h.floor
			} else {
				s.taken, s.takenFloors = s.taken+views, s.takenFloors+h.floor
			}
		}
	}
	nominated := make([]nominee, 0, len(sums))
	for id, s := range sums {
		if upper := s.added + floors - s.addedFloors; upper > s.taken {
			nominated = append(nominated, nominee{id: id, upper: upper - s.taken})
		}
	}
	slices.SortFunc(nominated, func(a, b nominee) int { return cmp.Or(cmp.Compare(b.upper, a.upper), cmp.Compare(a.id, b.id)) })
	top := &baseTop{floor: floors, views: map[string]uint64{}}
	if len(nominated) > b.most {
		top.floor = max(floors, nominated[b.most].upper)
		nominated = nominated[:b.most]
	}
	var unsure []string
	for _, n := range nominated {
		if s := sums[n.id]; s.addedFloors == floors && s.takenFloors == takenFloors {
			top.views[n.id] = n.upper
		} else {
			unsure = append(unsure, n.id)
		}
	}
	found, err := exactViews(ctx, b.conn, b.next, itemType, unsure)
	for _, item := range found {
		top.views[item.ItemID] = item.Views
	}
	for id, views := range top.views {
		top.items = append(top.items, recount.Count{ItemID: id, Views: views})
	}
	slices.SortFunc(top.items, func(a, b recount.Count) int {
		return cmp.Or(cmp.Compare(b.Views, a.Views), cmp.Compare(a.ItemID, b.ItemID))
	})
	return top, err
}

// ask reads the exact views of items that are not known yet.
func (b *base) ask(ctx context.Context, itemType string, ids []string) error {
	top := b.types[itemType]
	unknown := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { _, ok := top.views[id]; return ok })
	if len(unknown) == 0 {
		return nil
	}
	if most := max(baseAsked/(len(b.types)*len(list.Long)), leastAsked); len(top.views)+len(unknown) > len(top.items)+most {
		clear(top.views)
		for _, item := range top.items {
			top.views[item.ItemID] = item.Views
		}
		unknown = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { _, ok := top.views[id]; return ok })
	}
	found, err := exactViews(ctx, b.conn, b.cover, itemType, unknown)
	if err != nil {
		return err
	}
	for _, id := range unknown {
		top.views[id] = 0
	}
	for _, item := range found {
		top.views[item.ItemID] = item.Views
	}
	return nil
}

// exactViews asks for items of a type, a bounded part at a time.
func exactViews(ctx context.Context, conn driver.Conn, cover *recount.Cover, itemType string, ids []string) (found []recount.Count, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	all := make([]item, len(ids))
	for i, id := range ids {
		all[i] = item{itemType, id}
	}
	err = chunksOf(all, func(_, ids []string) error {
		part, err := cover.Counts(ctx, conn, itemType, ids, baseBudget)
		found = append(found, part...)
		return err
	})
	return found, err
}
