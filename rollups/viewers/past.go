package viewers

import (
	"context"
	"slices"
	"time"
)

const (
	// settle is how long after an item is watched, by both clocks, the blocks that did not meet the set are in events: a block takes a
	// second. What is before the as_of at which it was watched was in events already.
	settle = 10 * time.Second
	// pastItems of one statement.
	pastItems = 100
	// A build of 1m looks into livePartitions of events for the past of items, others into longPartitions: a partition is an hour, and a part of it costs a
	// granule an item, 8,192 rows. Lists of 1m are made every second and must not wait; what it leaves is looked for by the next.
	livePartitions, longPartitions = 40, 4000
)

func pastPartitions(w Window) int {
	if w.AsOf.Sub(w.From) <= time.Minute {
		return livePartitions
	}
	return longPartitions
}

// job is time whose raw events are to be counted for some items.
type job struct {
	grain       int
	from, until time.Time
	settles     bool
}

// past counts what came before items were watched, as far as the budget reaches, the first items first, and returns those that have too few
// viewers all the same. It stops early: most items that were viewed by many have shown it in the newest hours.
func (b *build) past(ctx context.Context, under []Item) ([]Item, error) {
	for range len(allGrains[b.grain].steps) + 1 {
		jobs, order := b.plan(under)
		if len(jobs) == 0 {
			return under, nil
		}
		done := map[Item]bool{}
		for _, j := range order {
			if time.Since(b.began) > b.config.Budget/3 {
				break
			}
			if err := b.run(ctx, j, jobs[j]); err != nil {
				return under, err
			}
			for _, item := range jobs[j] {
				done[item] = true
			}
		}
		var rest, again []Item
		for _, item := range under {
			if done[item] {
				again = append(again, item)
			} else {
				rest = append(rest, item)
			}
		}
		if len(again) == 0 {
			return under, nil
		}
		still, err := b.count(ctx, again)
		if err != nil {
			return under, err
		}
		under = slices.Concat(still, rest)
	}
	return under, nil
}

// plan says what to count next.
func (b *build) plan(items []Item) (jobs map[job][]Item, order []job) {
	b.watch.mu.Lock()
	defer b.watch.mu.Unlock()
	jobs = map[job][]Item{}
	for _, item := range items {
		k := b.watch.items[item]
		if k == nil || !k.watched {
			continue
		}
		j, due := b.next(k)
		cost := 1 + int(min(j.until.Sub(j.from), b.window.AsOf.Sub(j.from))/time.Hour)
		if !due || cost > b.partitions {
			continue
		}
		b.partitions -= cost
		if jobs[j] == nil {
			order = append(order, j)
		}
		jobs[j] = append(jobs[j], item)
	}
	return jobs, order
}

// next is what is to be counted of an item, if anything is left.
func (b *build) next(k *known) (job, bool) {
	g, since := allGrains[b.grain], k.since[b.grain]
	if since.After(b.from()) {
		target := g.target(since, b.from(), b.window.AsOf)
		if oldest := b.window.AsOf.Add(-b.config.KeepEvents).Truncate(g.length); target.Before(oldest) {
			target = oldest
		}
		return job{grain: b.grain, from: target, until: since}, target.Before(since)
	}
	due := !k.settled && !b.window.AsOf.Before(k.asOf.Add(settle)) && time.Since(k.at) >= settle
	return job{grain: minutes, from: k.asOf.Truncate(time.Minute), until: never, settles: true}, due
}

// run counts, and keeps in mind how far back the states reach now.
func (b *build) run(ctx context.Context, j job, items []Item) error {
	began := time.Now()
	defer func() { b.metrics.step("past", time.Since(began)) }()
	err := eachPart(items, pastItems, func(itemType string, ids []string) error {
		p := parameters{"type": itemType, "ids": ids, "from": j.from, "until": j.until}
		return questions.Execute(ctx, b.conn, allGrains[j.grain].past, p, b.config.Budget)
	})
	if err != nil {
		return err
	}
	b.watch.mu.Lock()
	for _, item := range items {
		if k := b.watch.items[item]; k != nil && k.watched {
			k.reach(j)
		}
	}
	b.watch.mu.Unlock()
	return b.watch.record(ctx, items)
}

// reach takes in what a job has counted. Minutes make whole hours from the next one on.
func (k *known) reach(j job) {
	if j.settles {
		k.settled = true
		return
	}
	earlier := func(grain int, t time.Time) {
		if t.Before(k.since[grain]) {
			k.since[grain] = t
		}
	}
	earlier(j.grain, j.from)
	if j.grain == minutes {
		earlier(hours, allGrains[hours].ceil(j.from))
	}
}
