package rollups

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/list"
)

// bucketLength is the grain of topk_10s.
const bucketLength = 10 * time.Second

// estimate bounds the candidates by sketches alone. The upper bound is the lesser of two that never undercount: the
// Count-Min estimate of the minutes that overlap the window, which beyond that exceeds the truth by more than
// (e / width) x N with probability e^-depth, and the upper bound of the summaries. The lower bound counts the summaries
// wholly inside, less what replays put into them. Both are certain, so max_overcount is certain too.
func (b *Builder) estimate(ctx context.Context, q question, named map[string]*nomination) (counts, error) {
	excess, err := b.excess(ctx, q)
	if err != nil {
		return counts{}, err
	}
	sketched := tally{}
	err = chunks(q, named, func(types, ids []string) error {
		p := parameters{"slice": list.GlobalSlice, "types": types, "ids": ids, "from": q.from, "as_of": q.asOf}
		return read(ctx, b.conn, "estimate", p, questionBudget, func(r driver.Rows) error {
			var itemType, id string
			var views uint64
			if err := r.Scan(&itemType, &id, &views); err != nil {
				return err
			}
			sketched.add(itemType, id, views)
			return nil
		})
	})
	c := counts{method: list.MethodEstimated, totals: q.landed.within(span{q.from, q.asOf}), counts: map[string]map[string]interval{}}
	for itemType, n := range named {
		c.counts[itemType] = make(map[string]interval, len(n.items))
		for _, item := range n.items {
			upper := min(sketched[itemType][item.id], item.upper)
			lower := item.lower - min(excess[itemType], item.lower)
			c.counts[itemType][item.id] = interval{min(lower, upper), upper}
		}
	}
	return c, err
}

// excess is, by item type, how many views of the whole buckets of a window the summaries took in twice: any item may have
// them all. What landed has no part in it, so rows written by hand count as excess.
func (b *Builder) excess(ctx context.Context, q question) (map[string]uint64, error) {
	inside := span{q.from.Add(bucketLength - 1).Truncate(bucketLength), q.asOf.Truncate(bucketLength)}
	excess := map[string]uint64{}
	if !inside.from.Before(inside.until) {
		return excess, nil
	}
	// Before what the summaries took in: what lands in between can only raise the excess.
	landed, err := readLanded(ctx, b.conn, q.types, inside)
	if err != nil {
		return nil, err
	}
	p := parameters{"slice": list.GlobalSlice, "types": q.types, "from": inside.from, "until": inside.until}
	err = read(ctx, b.conn, "applied", p, questionBudget, func(r driver.Rows) error {
		var itemType string
		var minute time.Time
		var views, blocks uint64
		if err := r.Scan(&itemType, &minute, &views, &blocks); err != nil {
			return err
		}
		excess[itemType] += views
		return nil
	})
	if err != nil {
		return nil, err
	}
	for itemType, views := range landed.within(inside) {
		excess[itemType] -= min(views, excess[itemType])
	}
	return excess, nil
}
