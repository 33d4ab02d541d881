package recount

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/clickhouse"
)

const (
	// headEntries bounds the items of all types in the heads that one statement makes, some 60 bytes each: the more partitions and
	// types, the fewer of each, down to leastHead.
	headEntries, leastHead = 2_000_000, 500
	// HeadItems is how many items of a type are remembered of a partition, where there are few types.
	HeadItems = 5000
	// HeadTypes bounds the item types that are remembered of a partition: those of most views.
	HeadTypes = 1000
	// largePart is how many views make a partition worth statements of its own, and an item type in it: a key of one string takes half
	// the time of a key of type and item. Smaller partitions are grouped together, up to as many views and maxHeads.
	largePart = 500_000
	maxHeads  = 100
)

// Head is what is remembered of one item type in one partition of exact counts.
type Head struct {
	Part     Part
	ItemType string
	Views    uint64  // of all items
	Items    []Count // the most viewed, in order
	Floor    uint64  // no other item has more
}

// FillHeads remembers the most viewed items of every type of partitions, which it groups for that. Doing it twice changes nothing, and
// what was begun is not read. A partition without views is not remembered.
func FillHeads(ctx context.Context, conn driver.Conn, parts []Part, budget time.Duration) error {
	all, err := readPartTotals(ctx, conn, parts, budget)
	if err != nil {
		return err
	}
	var small []partTotals
	for _, one := range all {
		if one.views < largePart {
			small = append(small, one)
		} else if err := fillTogether(ctx, conn, []partTotals{one}, budget); err != nil {
			return err
		}
	}
	for _, batch := range batches(small, largePart, maxHeads, func(one partTotals) uint64 { return one.views }) {
		if err := fillTogether(ctx, conn, batch, budget); err != nil {
			return err
		}
	}
	return nil
}

// partTotals are the views of the busiest item types of a partition.
type partTotals struct {
	part  Part
	types map[string]uint64
	views uint64 // of them all
}

func readPartTotals(ctx context.Context, conn driver.Conn, parts []Part, budget time.Duration) (all []partTotals, err error) {
	p := CoverOf(parts).Parameters()
	p["most"] = HeadTypes
	err = questions.Read(ctx, conn, "part_totals", p, budget, func(rows driver.Rows) error {
		var part Part
		var bucket time.Time
		var itemType string
		var views uint64
		if err := rows.Scan(&part.Grain, &bucket, &part.Version, &itemType, &views); err != nil {
			return err
		}
		part.Bucket = bucket.Unix()
		if len(all) == 0 || all[len(all)-1].part != part {
			all = append(all, partTotals{part: part, types: map[string]uint64{}})
		}
		last := &all[len(all)-1]
		last.types[itemType] = views
		last.views += views
		return nil
	})
	return all, err
}

// CoverOf is of some partitions, whatever their time.
func CoverOf(parts []Part) *Cover {
	c := &Cover{}
	for _, part := range parts {
		one := part.Cover()
		c.hours, c.hour = append(c.hours, one.hours...), append(c.hour, one.hour...)
		c.days, c.day = append(c.days, one.days...), append(c.day, one.day...)
		c.total = max(c.total, one.total)
	}
	return c
}

// fillTogether groups some partitions by the same statement, and large types of a single one by statements of their own.
func fillTogether(ctx context.Context, conn driver.Conn, all []partTotals, budget time.Duration) error {
	parts, together, most := make([]Part, len(all)), map[string]bool{}, 0
	for i, one := range all {
		parts[i], most = one.part, max(most, len(one.types))
		for itemType, views := range one.types {
			together[itemType] = views < largePart
		}
	}
	p := CoverOf(parts).Parameters()
	p["keep"] = min(max(headEntries/(most*len(all)), leastHead), HeadItems)
	for itemType, views := range all[0].types {
		if together[itemType] {
			continue
		}
		p["type"], p["views"] = itemType, views
		p["part"], p["bucket"], p["version"] = parts[0].Grain, time.Unix(parts[0].Bucket, 0).UTC(), parts[0].Version
		if err := questions.Execute(ctx, conn, "fill_head", p, budget); err != nil {
			return err
		}
	}
	maps.DeleteFunc(together, func(_ string, small bool) bool { return !small })
	if len(together) > 0 {
		p["types"] = slices.Collect(maps.Keys(together))
		if err := questions.Execute(ctx, conn, "fill_heads", p, budget); err != nil {
			return err
		}
	}
	return questions.Execute(ctx, conn, "fill_heads_end", partNames(parts), budget)
}

// partNames are names of partitions as parameters.
func partNames(parts []Part) clickhouse.Parameters {
	grains, buckets, versions := make([]string, len(parts)), make([]time.Time, len(parts)), make([]uint64, len(parts))
	for i, part := range parts {
		grains[i], buckets[i], versions[i] = part.Grain, time.Unix(part.Bucket, 0).UTC(), part.Version
	}
	return clickhouse.Parameters{"parts": grains, "buckets": buckets, "versions": versions}
}

// ReadHeads returns what is remembered of partitions, at most keep items of each of the types, and the views alone of every
// other type. It has nothing of partitions whose heads were not filled, or not to the end.
func ReadHeads(ctx context.Context, conn driver.Conn, parts []Part, types []string, keep int, budget time.Duration) (heads []Head, err error) {
	p := partNames(parts)
	p["types"], p["keep"] = types, keep
	filled := map[Part]bool{}
	err = questions.Read(ctx, conn, "heads", p, budget, func(rows driver.Rows) error {
		var h Head
		var bucket time.Time
		var items []string
		var views []uint64
		if err := rows.Scan(&h.Part.Grain, &bucket, &h.Part.Version, &h.ItemType, &h.Views, &items, &views, &h.Floor); err != nil {
			return err
		}
		h.Part.Bucket = bucket.Unix()
		if h.ItemType == "" {
			filled[h.Part] = true
			return nil
		}
		for i, id := range items {
			h.Items = append(h.Items, Count{ItemID: id, Views: views[i]})
		}
		heads = append(heads, h)
		return nil
	})
	return slices.DeleteFunc(heads, func(h Head) bool { return !filled[h.Part] }), err
}
