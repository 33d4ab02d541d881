package slices

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/rollups/recount"
)

const (
	// batchViews and batchMinutes bound what one statement groups: small minutes together, a large one by itself.
	batchViews, batchMinutes = 500_000, 60
	// refillViews is what is filled again in one round, beside as much as is filled for the first time: minutes for which most came late
	// come first. Lists do not wait for it: what came late is within their bounds.
	refillViews = 1_000_000
	// fillBudget is when a round fills no more: after a start there is an hour and more to fill, and the newest lists do not wait for it.
	fillBudget = 20 * time.Second
	// maxTries bounds the fillings for the same views of a minute: rows of which one view has them and another never will.
	maxTries = 3
)

// Filler keeps slice_minutes filled. It remembers nothing that matters. It is not safe for concurrent use.
type Filler struct {
	conn   driver.Conn
	config Config
	tries  map[time.Time]attempt
	told   time.Time             // the horizon that was entered last
	closed map[recount.Part]bool // partitions of exact counts that are filled

	followed uint64 // version in slice_followed
}

// attempt is how often a minute was filled for what had landed then.
type attempt struct {
	landed uint64
	tries  int
}

// NewFiller returns a filler on a connection.
func NewFiller(conn driver.Conn, config Config) *Filler {
	return &Filler{conn: conn, config: config, tries: map[time.Time]attempt{}, closed: map[recount.Part]bool{}}
}

// due is a minute that is to be filled.
type due struct {
	minute  time.Time
	landed  uint64 // views
	late    uint64 // of them since it was filled
	version uint64 // of that filling, 0 for the first
}

// Fill fills the minutes of [from, until) that are not, newest first, and again those for which something came late, as far as time
// allows. Both are whole minutes. It returns how many it filled.
func (f *Filler) Fill(ctx context.Context, from, until time.Time) (filled int, err error) {
	began := time.Now()
	known, err := readLedger(ctx, f.conn, f.config, from, until)
	if err != nil {
		return 0, err
	}
	all := f.due(known)
	if len(all) > 0 {
		err = f.config.read(ctx, f.conn, "followed", nil, func(rows driver.Rows) error { return rows.Scan(&f.followed) })
		if err != nil {
			return 0, err
		}
	}
	types := known.types()
	for _, batch := range batches(all) {
		if filled > 0 && time.Since(began) > fillBudget {
			break
		}
		if err := f.fill(ctx, batch, types); err != nil {
			return filled, fmt.Errorf("fill slices of %s: %w", batch[0].minute.Format(time.DateTime), err)
		}
		filled += len(batch)
	}
	if until.After(f.told) {
		p := parameters{"minute": until, "version": uint64(time.Now().UnixMicro())}
		if err := f.config.execute(ctx, f.conn, "enter_horizon", p); err != nil {
			return filled, err
		}
		f.told = until
	}
	return filled, nil
}

// due are the minutes to fill now: all that never were, newest first, then as many as are worth it of those that changed since.
func (f *Filler) due(known ledger) []due {
	var first, again []due
	for minute, types := range known {
		d := due{minute: minute}
		for _, e := range types {
			d.landed, d.late, d.version = d.landed+e.landed, d.late+e.late(), max(d.version, e.version)
		}
		tried := f.tries[minute]
		switch {
		case d.landed == 0 || tried.landed == d.landed && tried.tries >= maxTries:
		case d.version == 0:
			first = append(first, d)
		case d.late > 0:
			again = append(again, d)
		}
	}
	maps.DeleteFunc(f.tries, func(minute time.Time, _ attempt) bool { return known[minute] == nil })
	slices.SortFunc(first, func(a, b due) int { return b.minute.Compare(a.minute) })
	slices.SortFunc(again, func(a, b due) int { return cmp.Or(cmp.Compare(b.late, a.late), b.minute.Compare(a.minute)) })
	budget := uint64(refillViews)
	for _, d := range first {
		budget += d.landed
	}
	for i, d := range again {
		if d.landed > budget && i > 0 {
			continue
		}
		budget -= min(budget, d.landed)
		first = append(first, d)
	}
	return first
}

// batches puts small minutes together.
func batches(all []due) [][]due {
	var put [][]due
	views := uint64(0) // of the last batch
	for _, d := range all {
		if last := len(put) - 1; last >= 0 && views+d.landed <= batchViews && len(put[last]) < batchMinutes {
			put[last], views = append(put[last], d), views+d.landed
			continue
		}
		put, views = append(put, []due{d}), d.landed
	}
	return put
}

// fill writes the slices of some item types in some minutes under a new version, and then enters it.
func (f *Filler) fill(ctx context.Context, batch []due, types []string) error {
	version := uint64(time.Now().UnixMicro())
	minutes := make([]time.Time, len(batch))
	for i, d := range batch {
		minutes[i], version = d.minute, max(version, d.version+1)
	}
	slices.SortFunc(minutes, time.Time.Compare)
	p := parameters{"types": types, "minutes": minutes, "from": minutes[0], "until": minutes[len(minutes)-1].Add(time.Minute), "version": version,
		"keep": f.config.Items, "slices": f.config.Slices, "followed": f.followed}
	for _, d := range f.config.Kept.Dimensions() {
		p["dimensions"] = uint8(d)
		if err := f.config.execute(ctx, f.conn, "fill", p); err != nil {
			return err
		}
	}
	if err := f.config.execute(ctx, f.conn, "enter", p); err != nil {
		return err
	}
	for _, d := range batch { // what fails is tried until it succeeds
		tried := f.tries[d.minute]
		if tried.landed != d.landed {
			tried = attempt{landed: d.landed}
		}
		tried.tries++
		f.tries[d.minute] = tried
	}
	return nil
}
