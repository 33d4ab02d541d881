package rollups

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/list"
)

// bucketLength is the grain of topk_10s.
const bucketLength = 10 * time.Second

// estimate bounds the candidates without counting them to the second. The upper bound is the lesser of two that never
// undercount: what the minutes that overlap the window hold of the item, and the upper bound of the summaries. Where a minute
// or an hour has been filled whole that is the Count-Min estimate, which exceeds the truth by more than (e / width) x N with
// probability e^-depth; elsewhere counts_minute, replays included. The lower bound counts the summaries wholly inside, less
// what replays put into them. Both are certain, so max_overcount is certain too.
func (b *Builder) estimate(ctx context.Context, q question, named map[string]*nomination) (counts, error) {
	excess, err := b.excess(ctx, q)
	if err != nil {
		return counts{}, err
	}
	sources, err := b.sources(ctx, q)
	if err != nil {
		return counts{}, err
	}
	sketched := tally{}
	err = chunks(q, named, func(types, ids []string) error { return b.sketch(ctx, sources, types, ids, sketched) })
	c := counts{method: list.MethodEstimated, totals: q.landed.within(span{q.from, q.asOf}), counts: map[string]map[string]list.Interval{}}
	for itemType, n := range named {
		c.counts[itemType] = make(map[string]list.Interval, len(n.items))
		for _, item := range n.items {
			upper := min(sketched[itemType][item.id], item.upper)
			lower := item.lower - min(excess[itemType], item.lower)
			c.counts[itemType][item.id] = list.Interval{Lower: min(lower, upper), Upper: upper}
		}
	}
	return c, err
}

// sources say which table answers for each minute that overlaps a window.
type sources struct{ hours, minutes, open []time.Time }

// sources trusts a sketch only where it holds exactly what has arrived: half-filled minutes, and those that late events have
// changed since, are open. An hour is trusted only when its minutes are, too: sums that agree by chance would have to do so twice.
func (b *Builder) sources(ctx context.Context, q question) (sources, error) {
	s := span{q.from.Truncate(time.Minute), q.asOf.Add(time.Minute - 1).Truncate(time.Minute)}
	minutes, err := minuteStep.held(ctx, b.conn, s)
	if err != nil {
		return sources{}, err
	}
	inside := span{s.from.Add(time.Hour - 1).Truncate(time.Hour), s.until.Truncate(time.Hour)}
	hours, err := readViews(ctx, b.conn, "filled", hourStep.target, inside)
	if err != nil {
		return sources{}, err
	}
	var from sources
	for at := s.from; at.Before(s.until); at = at.Add(time.Minute) {
		if at.Equal(at.Truncate(time.Hour)) && hours[at] > 0 && hours[at] == wholeHour(minutes, at) {
			from.hours = append(from.hours, at)
			at = at.Add(time.Hour - time.Minute)
			continue
		}
		if minutes[at].whole() {
			from.minutes = append(from.minutes, at)
		} else {
			from.open = append(from.open, at)
		}
	}
	return from, nil
}

// wholeHour is how many views the minutes of an hour hold, 0 when one of them is not whole.
func wholeHour(minutes map[time.Time]holding, hour time.Time) (sum uint64) {
	for at := hour; at.Before(hour.Add(time.Hour)); at = at.Add(time.Minute) {
		v, arrived := minutes[at]
		if arrived && !v.whole() {
			return 0
		}
		sum += v.filled
	}
	return sum
}

// sketch adds upper bounds of the candidates to found.
func (b *Builder) sketch(ctx context.Context, from sources, types, ids []string, found tally) error {
	upper := tally{}
	ask := func(name, table string, buckets []time.Time) error {
		if len(buckets) == 0 {
			return nil
		}
		p := parameters{"slice": list.GlobalSlice, "types": types, "ids": ids, "table": table, "buckets": buckets, "minutes": buckets}
		return read(ctx, b.conn, name, p, questionBudget, func(r driver.Rows) error {
			var itemType, id string
			var n uint64
			if err := r.Scan(&itemType, &id, &n); err != nil {
				return err
			}
			upper.add(itemType, id, n)
			return nil
		})
	}
	if err := ask("estimate", hourStep.target, from.hours); err != nil {
		return err
	}
	if err := ask("estimate", minuteStep.target, from.minutes); err != nil {
		return err
	}
	if err := ask("verify_minutes", "", from.open); err != nil {
		return err
	}
	for i, itemType := range types { // the same id may be a candidate of another type, whose part is asked for elsewhere
		found.add(itemType, ids[i], upper[itemType][ids[i]])
	}
	return nil
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
