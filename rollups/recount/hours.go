package recount

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
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
	counted int64  // block up to which its events are in that
	block   int64  // greatest of its events
	rows    uint64 // of events
	gone    bool   // they are fewer than were counted: some were dropped, and a recount would lose those
}

func (d dueHour) why() string {
	if d.version == 0 {
		return WhyClosed
	}
	return WhyLate
}

// hours recounts what is due, oldest first, those that have no counts yet before others. It returns those of them that are left for
// the next round, and why some could not be counted: the others are.
func (r *Recounter) hours(ctx context.Context, due []dueHour, report *Report) (pending []time.Time, err error) {
	due = r.tellGone(due)
	r.metrics.due.Set(float64(len(due)))
	report.note(due)
	r.remember(due, time.Now())
	var failed []error
	for n, batch := range r.batches(r.ripe(due, time.Now())) {
		stopped := n >= maxBatches || len(failed) == maxFailures || ctx.Err() != nil
		if !stopped {
			_, err := r.recount(ctx, starts(batch), batch[0].why(), false)
			if err == nil {
				report.Hours += len(batch)
				continue
			}
			r.noteFailure(batch)
			failed = append(failed, err)
		}
		report.More = report.More || stopped
		if batch[0].version == 0 {
			pending = append(pending, starts(batch)...)
		}
	}
	return pending, errors.Join(failed...)
}

// batches are hours that are counted by one statement each, in order: they are all counted for the first time, or none is. One that was
// in a statement that failed stands alone from then on, so that it fails by itself, and behind all that failed less often.
func (r *Recounter) batches(first, late []dueHour) (all [][]dueHour) {
	size := func(d dueHour) uint64 { return d.rows }
	failures := func(d dueHour) int { return r.changed[d.hour].failed }
	var ill []dueHour
	for _, hours := range [][]dueHour{first, late} {
		well, failed := apart(hours, failures)
		all, ill = append(all, batches(well, r.config.BatchEvents, maxBatchHours, size)...), append(ill, failed...)
	}
	return append(all, alone(ill, failures)...)
}

func (r *Recounter) noteFailure(hours []dueHour) {
	for _, d := range hours {
		c := r.changed[d.hour]
		c.failed++
		r.changed[d.hour] = c
	}
}

// tellGone returns the hours without those whose events are not all kept any more, and makes each of those known once. They keep
// their counts, and hold back no events: late ones are dropped with their hour.
func (r *Recounter) tellGone(due []dueHour) (rest []dueHour) {
	gone := map[time.Time]bool{}
	for _, d := range due {
		if !d.gone {
			rest = append(rest, d)
			continue
		}
		if gone[d.hour] = true; !r.gone[d.hour] {
			r.log.Warn("events arrived for an hour whose earlier ones are not kept any more: it keeps its counts, without them",
				"hour", d.hour.Format(time.RFC3339), "rows", d.rows)
		}
	}
	r.metrics.gone.Set(float64(len(gone)))
	r.gone = gone
	return rest
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

func readDue(ctx context.Context, conn driver.Conn, closed time.Time) ([]dueHour, error) {
	var due []dueHour
	err := questions.Read(ctx, conn, "due_hours", clickhouse.Parameters{"closed": closed}, askBudget, func(rows driver.Rows) error {
		var d dueHour
		err := rows.Scan(&d.hour, &d.version, &d.counted, &d.block, &d.rows, &d.gone)
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
// ledger, and everything is after. It returns the hours whose events are gone, so that they could only be counted from what is left:
// those stay as they are, unless forced.
func (r *Recounter) recount(ctx context.Context, hours []time.Time, why string, force bool) (gone []time.Time, err error) {
	began := time.Now()
	f, err := r.find(ctx, hours, force)
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

func (r *Recounter) find(ctx context.Context, hours []time.Time, force bool) (f found, err error) {
	err = questions.Read(ctx, r.conn, "found_hours", clickhouse.Parameters{"hours": hours}, askBudget, func(rows driver.Rows) error {
		var hour time.Time
		var version, events uint64
		var block int64
		var gone bool
		if err := rows.Scan(&hour, &version, &block, &events, &gone); err != nil {
			return err
		}
		if hour = hour.UTC(); gone && !force {
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

// apart are those that never failed, and those that did.
func apart[T any](all []T, failures func(T) int) (well, ill []T) {
	for _, one := range all {
		if failures(one) == 0 {
			well = append(well, one)
		} else {
			ill = append(ill, one)
		}
	}
	return well, ill
}

// alone are batches of one each, of what failed least often first.
func alone[T any](ill []T, failures func(T) int) [][]T {
	slices.SortStableFunc(ill, func(a, b T) int { return cmp.Compare(failures(a), failures(b)) })
	return slices.Collect(slices.Chunk(ill, 1))
}
