package rollups

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/rollups/recount"
)

// heldEntries bounds what is held of closed hours, days and the total together, some 60 bytes each: partitions times item types times
// items. Where that leaves less than leastHeld of each, so many are.
const heldEntries, leastHeld = 1_000_000, 200

// heads holds the most viewed items of each partition of exact counts. A partition never changes, so it is grouped once, by whichever
// worker needs it first: when an hour closes, its items alone are, whatever windows it is in.
type heads struct {
	conn driver.Conn
	held map[recount.Part]*partition
}

type partition struct {
	totals map[string]uint64 // views by item type
	types  map[string]*partHead
}

// partHead is the head of one item type in one partition.
type partHead struct {
	views map[string]uint64
	floor uint64 // no other item has more
}

func newHeads(conn driver.Conn) *heads {
	return &heads{conn: conn, held: map[recount.Part]*partition{}}
}

// totals makes the views of every item type in the partitions known, and groups the partitions that nobody has yet.
func (h *heads) totals(ctx context.Context, parts []recount.Part) error {
	missing := h.missing(parts)
	if err := h.read(ctx, missing, nil, 0); err != nil {
		return err
	}
	if missing = h.missing(missing); len(missing) == 0 {
		return nil
	}
	if err := recount.FillHeads(ctx, h.conn, missing, baseBudget); err != nil {
		return fmt.Errorf("most viewed of closed hours: %w", err)
	}
	if err := h.read(ctx, missing, nil, 0); err != nil {
		return err
	}
	for _, p := range h.missing(missing) {
		h.held[p] = newPartition() // it is empty
	}
	return nil
}

// missing are those of the partitions that nothing is known of.
func (h *heads) missing(parts []recount.Part) []recount.Part {
	return slices.DeleteFunc(slices.Clone(parts), func(p recount.Part) bool { return h.held[p] != nil })
}

// load makes the most viewed items of the types known, at most keep of each, in partitions whose totals are.
func (h *heads) load(ctx context.Context, parts []recount.Part, types []string, keep int) error {
	var asked []recount.Part
	for _, p := range parts {
		if slices.ContainsFunc(types, func(t string) bool { return h.held[p].types[t] == nil }) {
			asked = append(asked, p)
		}
	}
	if err := h.read(ctx, asked, types, keep); err != nil {
		return err
	}
	for _, p := range asked {
		for _, itemType := range types {
			if h.held[p].types[itemType] != nil {
				continue
			}
			head, err := h.group(ctx, p, itemType, keep)
			if err != nil {
				return err
			}
			h.held[p].types[itemType] = head
		}
	}
	return nil
}

// read takes over what is remembered of partitions: views of every type, items of those given.
func (h *heads) read(ctx context.Context, parts []recount.Part, types []string, keep int) error {
	if len(parts) == 0 {
		return nil
	}
	remembered, err := recount.ReadHeads(ctx, h.conn, parts, types, keep, baseBudget)
	if err != nil {
		return err
	}
	for _, r := range remembered {
		p := h.held[r.Part]
		if p == nil {
			p = newPartition()
			h.held[r.Part] = p
		}
		p.totals[r.ItemType] = r.Views
		if p.types[r.ItemType] == nil && slices.Contains(types, r.ItemType) {
			p.types[r.ItemType] = newPartHead(r.Items, r.Floor)
		}
	}
	return nil
}

// group makes the head of a type that is not remembered: it has no views there, or there are too many busier types.
func (h *heads) group(ctx context.Context, p recount.Part, itemType string, keep int) (*partHead, error) {
	if len(h.held[p].totals) < recount.HeadTypes {
		return newPartHead(nil, 0), nil
	}
	items, err := p.Cover().Top(ctx, h.conn, itemType, keep+1, baseBudget)
	if err != nil || len(items) <= keep {
		return newPartHead(items, 0), err
	}
	return newPartHead(items[:keep], items[keep].Views), nil
}

func newPartition() *partition {
	return &partition{totals: map[string]uint64{}, types: map[string]*partHead{}}
}

func newPartHead(items []recount.Count, floor uint64) *partHead {
	head := &partHead{views: make(map[string]uint64, len(items)), floor: floor}
	for _, item := range items {
		head.views[item.ItemID] = item.Views
	}
	return head
}

// forget leaves what some window still uses.
func (h *heads) forget(used map[recount.Part]bool) {
	maps.DeleteFunc(h.held, func(p recount.Part, _ *partition) bool { return !used[p] })
}
