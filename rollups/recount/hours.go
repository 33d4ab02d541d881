package recount

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/clickhouse"
)

// Reasons in the ledger.
const (
	WhyClosed = "closed" // the first recount of an hour
	WhyLate   = "late"   // something arrived after it
	WhyByHand = "by hand"
)

// dueHour is an hour with events that no recount has seen.
type dueHour struct {
	hour    time.Time
	version uint64 // that counts now, 0 when it was never recounted
	block   int64  // greatest of its events
	rows    uint64 // of events
}

// hours recounts what is due before closed, oldest first, those that have no counts yet before others. It returns those of them
// that are left for the next round.
func (r *Recounter) hours(ctx context.Context, closed time.Time, report *Report) (pending []time.Time, err error) {
	due, err := r.dueHours(ctx, closed)
	if err != nil {
		return nil, err
	}
	r.metrics.due.Set(float64(len(due)))
	report.note(due)
	r.remember(due, time.Now())
	first, late := r.ripe(due, time.Now())
	size := func(d dueHour) uint64 { return d.rows }
	left := maxBatches
	for _, todo := range []struct {
		why   string
		hours []dueHour
	}{{WhyClosed, first}, {WhyLate, late}} {
		for _, batch := range batches(todo.hours, r.config.BatchEvents, maxBatchHours, size) {
			if left--; left < 0 {
				report.More = true
				if todo.why == WhyClosed {
					pending = append(pending, starts(batch)...)
				}
				continue
			}
			if _, err := r.recount(ctx, starts(batch), todo.why); err != nil {
				return nil, err
			}
			report.Hours += len(batch)
		}
	}
	return pending, nil
}

func starts(due []dueHour) []time.Time {
	hours := make([]time.Time, len(due))
	for i, d := range due {
		hours[i] = d.hour
	}
	return hours
}

// note takes down how far back raw events and landed counts are still needed.
func (p *Report) note(due []dueHour) {
	for _, d := range due {
		if p.Due.IsZero() {
			p.Due = d.hour
		}
		if d.version == 0 {
			p.Uncounted = d.hour
			return
		}
	}
}

// remember notes since when hours are due, and since when they are as they are.
func (r *Recounter) remember(due []dueHour, now time.Time) {
	changed := make(map[time.Time]change, len(due))
	for _, d := range due {
		c, known := r.changed[d.hour]
		if !known {
			c.due = now
		}
		if c.block != d.block {
			c.block, c.since = d.block, now
		}
		changed[d.hour] = c
	}
	r.changed = changed
}

// ripe returns the hours to be counted now: those for the first time at once, those that changed after their recount when nothing
// has arrived for them for a while, or they have waited for long enough.
func (r *Recounter) ripe(due []dueHour, now time.Time) (first, late []dueHour) {
	for _, d := range due {
		c := r.changed[d.hour]
		switch {
		case d.version == 0:
			first = append(first, d)
		case now.Sub(c.since) >= r.config.Debounce || now.Sub(c.due) >= r.config.MaxDebounce:
			late = append(late, d)
		}
	}
	return first, late
}

func (r *Recounter) dueHours(ctx context.Context, closed time.Time) ([]dueHour, error) {
	var due []dueHour
	err := questions.Read(ctx, r.conn, "due_hours", clickhouse.Parameters{"closed": closed}, askBudget, func(rows driver.Rows) error {
		var d dueHour
		err := rows.Scan(&d.hour, &d.version, &d.block, &d.rows)
		d.hour = d.hour.UTC()
		due = append(due, d)
		return err
	})
	return due, err
}

// found is what there was of hours before their recount.
type found struct {
	version uint64 // the next one of all
	hours   []time.Time
	events  []uint64 // rows of each hour
	blocks  []int64  // greatest of each hour
	gone    []time.Time
}

// recount counts some hours anew, together. They must be over; nothing is read of the new counts before they are entered in the
// ledger, and everything is after. It returns the hours that have counts, and no events that they could be counted from: those
// stay as they are.
func (r *Recounter) recount(ctx context.Context, hours []time.Time, why string) (gone []time.Time, err error) {
	began := time.Now()
	f, err := r.find(ctx, hours)
	if err == nil && len(f.hours) == 0 {
		return f.gone, nil
	}
	p := clickhouse.Parameters{"hours": f.hours, "version": f.version, "events": f.events, "blocks": f.blocks, "why": why}
	if err == nil {
		err = r.run(ctx, "count_hours", p, r.config.Budget)
	}
	if err == nil {
		err = r.run(ctx, "enter_hours", p, r.config.Budget)
	}
	if err != nil {
		return nil, describe("recount hours from", hours[0], err)
	}
	took := time.Since(began)
	var events uint64
	for i, hour := range f.hours {
		delete(r.changed, hour)
		events += f.events[i]
	}
	r.metrics.hours.WithLabelValues(reason(why)).Add(float64(len(f.hours)))
	r.metrics.seconds.Observe(took.Seconds())
	r.log.Info("recounted", "hours", len(f.hours), "first", f.hours[0].Format(time.RFC3339), "last", f.hours[len(f.hours)-1].Format(time.RFC3339),
		"why", why, "rows", events, "version", f.version, "took", took.Round(time.Millisecond))
	return f.gone, nil
}

func (r *Recounter) find(ctx context.Context, hours []time.Time) (f found, err error) {
	err = questions.Read(ctx, r.conn, "found_hours", clickhouse.Parameters{"hours": hours}, askBudget, func(rows driver.Rows) error {
		var hour time.Time
		var version, events, counted uint64
		var block int64
		if err := rows.Scan(&hour, &version, &block, &events, &counted); err != nil {
			return err
		}
		if hour = hour.UTC(); events == 0 && counted > 0 {
			f.gone = append(f.gone, hour)
			return nil
		}
		f.version = max(f.version, version)
		f.hours, f.events, f.blocks = append(f.hours, hour), append(f.events, events), append(f.blocks, block)
		return nil
	})
	if err == nil && len(f.hours)+len(f.gone) != len(hours) {
		err = fmt.Errorf("found_hours: %d of %d hours", len(f.hours)+len(f.gone), len(hours))
	}
	return f, err
}

// batches cuts a list into pieces of at most so much in all and so many. What is larger than that stands alone.
func batches[T any](all []T, most uint64, count int, size func(T) uint64) (cut [][]T) {
	var sum uint64
	for i, one := range all {
		if n := size(one); i == 0 || sum+n > most || len(cut[len(cut)-1]) == count {
			cut, sum = append(cut, all[i:i:len(all)]), n
		} else {
			sum += n
		}
		last := &cut[len(cut)-1]
		*last = (*last)[:len(*last)+1]
	}
	return cut
}
