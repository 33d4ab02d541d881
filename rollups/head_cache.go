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

// headCache holds the most viewed items of each partition of exact counts. A partition never changes, so it is grouped once, by whichever
// worker needs it first: when an hour closes, its items alone are, whatever windows it is in.
type headCache struct {
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

func newHeadCache(conn driver.Conn) *headCache {
	return &headCache{conn: conn, held: map[recount.Part]*partition{}}
}

// totals makes the views of every item type in the partitions known, and groups the partitions that nobody has yet.
func (c *headCache) totals(ctx context.Context, parts []recount.Part) error {
	missing := c.missing(parts)
	if err := c.read(ctx, missing, nil, 0); err != nil {
		return err
	}
	if missing = c.missing(missing); len(missing) == 0 {
		return nil
	}
	if err := recount.FillHeads(ctx, c.conn, missing, baseBudget); err != nil {
		return fmt.Errorf("most viewed of closed hours: %w", err)
	}
	if err := c.read(ctx, missing, nil, 0); err != nil {
		return err
	}
	for _, p := range c.missing(missing) {
		c.held[p] = newPartition() // it is empty
	}
	return nil
}

// missing are those of the partitions that nothing is known of.
func (c *headCache) missing(parts []recount.Part) []recount.Part {
	return slices.DeleteFunc(slices.Clone(parts), func(p recount.Part) bool { return c.held[p] != nil })
}

// load makes the most viewed items of the types known, at most keep of each, in partitions whose totals are.
func (c *headCache) load(ctx context.Context, parts []recount.Part, types []string, keep int) error {
	var asked []recount.Part
	for _, p := range parts {
		if slices.ContainsFunc(types, func(t string) bool { return c.held[p].types[t] == nil }) {
			asked = append(asked, p)
		}
	}
	if err := c.read(ctx, asked, types, keep); err != nil {
		return err
	}
	for _, p := range asked {
		for _, itemType := range types {
			if c.held[p].types[itemType] != nil {
				continue
			}
			head, err := c.group(ctx, p, itemType, keep)
			if err != nil {
				return err
			}
			c.held[p].types[itemType] = head
		}
	}
	return nil
}

// read takes over what is remembered of partitions: views of every type, items of those given.
func (c *headCache) read(ctx context.Context, parts []recount.Part, types []string, keep int) error {
	if len(parts) == 0 {
		return nil
	}
	remembered, err := recount.ReadHeads(ctx, c.conn, parts, types, keep, baseBudget)
	if err != nil {
		return err
	}
	for _, r := range remembered {
		p := c.held[r.Part]
		if p == nil {
			p = newPartition()
			c.held[r.Part] = p
		}
		p.totals[r.ItemType] = r.Views
		if p.types[r.ItemType] == nil && slices.Contains(types, r.ItemType) {
			p.types[r.ItemType] = newPartHead(r.Items, r.Floor)
		}
	}
	return nil
}

// group makes the head of a type that is not remembered: it has no views there, or there are too many busier types.
func (c *headCache) group(ctx context.Context, p recount.Part, itemType string, keep int) (*partHead, error) {
	if len(c.held[p].totals) < recount.HeadTypes {
		return newPartHead(nil, 0), nil
	}
	items, err := p.Cover().Top(ctx, c.conn, itemType, keep+1, baseBudget)
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
func (c *headCache) forget(used map[recount.Part]bool) {
	maps.DeleteFunc(c.held, func(p recount.Part, _ *partition) bool { return !used[p] })
}
