package recount

import (
	"context"
	"errors"
	"time"

	"topk/internal/clickhouse"
)

// fold is a total to be made, and the days in which it differs from the last one.
type fold struct {
	version, last uint64 // its version, and that of the total it starts from
	add           []time.Time
	added         []uint64
	remove        []time.Time
	removed       []uint64
}

// sums brings days and the total up to date with the hours before closed, and returns what the ledgers say then. Days that cannot be
// added up hold up neither others nor the total; the ledger is returned together with why they cannot. It is nil when it could not
// be read.
func (r *Recounter) sums(ctx context.Context, l *ledger, closed time.Time, report *Report) (*ledger, error) {
	changed, failed := r.addUp(ctx, l, closed.Truncate(day), report)
	if changed {
		var err error
		if l, err = readLedger(ctx, r.conn); err != nil {
			return nil, errors.Join(failed, err)
		}
	}
	changed, err := r.total(ctx, l, closed.Add(-r.config.FoldAfter).Truncate(day), report)
	failed = errors.Join(failed, err)
	if changed {
		if l, err = readLedger(ctx, r.conn); err != nil {
			return nil, errors.Join(failed, err)
		}
	}
	return l, failed
}

// addUp adds up the days before closed, a midnight. A day of which an hour is due is added up again after that: meanwhile the
// older sum is made of what counts.
func (r *Recounter) addUp(ctx context.Context, l *ledger, closed time.Time, report *Report) (changed bool, err error) {
	due, empty := l.dueDays(closed)
	var failed []error
	if empty {
		if err := r.run(ctx, "enter_empty_days", clickhouse.Parameters{"closed": closed}, askBudget); err != nil {
			failed = append(failed, err)
		}
	}
	for n, days := range r.dayBatches(due) {
		if n >= maxBatches || len(failed) >= maxFailures || ctx.Err() != nil {
			report.More = true
			break
		}
		if err := r.addUpDays(ctx, l, days); err != nil {
			failed = append(failed, err)
			for _, d := range days {
				r.ill[d.day]++
			}
			continue
		}
		report.Days += len(days)
	}
	return empty || len(due) > 0, errors.Join(failed...)
}

// dayBatches are days that are added up by one statement each, in order. One that was in a statement that failed stands alone from then
// on, behind all that failed less often, as hours do.
func (r *Recounter) dayBatches(due []*ledgerDay) [][]*ledgerDay {
	failures := func(d *ledgerDay) int { return r.ill[d.day] }
	well, ill := apart(due, failures)
	still := make(map[time.Time]int, len(ill))
	for _, d := range ill {
		still[d.day] = failures(d)
	}
	r.ill = still
	return append(batches(well, r.config.BatchEvents, maxBatchDays, (*ledgerDay).events), alone(ill, failures)...)
}

func (r *Recounter) addUpDays(ctx context.Context, l *ledger, days []*ledgerDay) error {
	var next uint64
	var all []ledgerHour
	for _, d := range days {
		next, all = max(next, l.next(d.sum.number)), append(all, d.hours...)
	}
	hours, versions := split(all)
	p := clickhouse.Parameters{"version": next, "hours": hours, "versions": versions}
	err := r.run(ctx, "count_days", p, r.config.Budget)
	if err == nil {
		err = r.run(ctx, "enter_days", p, r.config.Budget)
	}
	if err != nil {
		return describe("add up days from", days[0].day, err)
	}
	r.metrics.days.Add(float64(len(days)))
	return nil
}

// total folds the days before until into a new total, when there are any that the newest one does not hold as they are. They
// are in all time before that already: this only makes it cheaper to read.
func (r *Recounter) total(ctx context.Context, l *ledger, until time.Time, report *Report) (changed bool, err error) {
	f := l.fold(until, maxFold)
	if len(f.add) == 0 {
		return false, nil
	}
	p := clickhouse.Parameters{"version": f.version, "last": f.last, "add": f.add, "added": f.added, "remove": f.remove, "removed": f.removed}
	err = r.run(ctx, "count_total", p, r.config.Budget)
	if err == nil {
		err = r.run(ctx, "enter_total", p, r.config.Budget)
	}
	if err != nil {
		return false, describe("fold into the total the days before", until, err)
	}
	r.metrics.totals.Inc()
	report.Totals++
	report.More = report.More || len(f.add) == maxFold
	return true, nil
}
