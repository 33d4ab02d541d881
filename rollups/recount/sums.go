package recount

import (
	"context"
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

// sums brings days and the total up to date with the hours before closed, and returns what the ledgers say then.
func (r *Recounter) sums(ctx context.Context, l *ledger, closed time.Time, report *Report) (*ledger, error) {
	changed, err := r.addUp(ctx, l, closed.Truncate(day), report)
	if err == nil && changed {
		l, err = readLedger(ctx, r.conn)
	}
	if err != nil {
		return nil, err
	}
	changed, err = r.total(ctx, l, closed.Add(-r.config.FoldAfter).Truncate(day), report)
	if err == nil && changed {
		l, err = readLedger(ctx, r.conn)
	}
	return l, err
}

// addUp adds up the days before closed, a midnight. A day of which an hour is due is added up again after that: meanwhile the
// older sum is made of what counts.
func (r *Recounter) addUp(ctx context.Context, l *ledger, closed time.Time, report *Report) (changed bool, err error) {
	due, empty := l.dueDays(closed)
	if empty {
		if err := r.run(ctx, "enter_empty_days", clickhouse.Parameters{"closed": closed}, askBudget); err != nil {
			return false, err
		}
	}
	cut := batches(due, r.config.BatchEvents, maxBatchDays, (*ledgerDay).events)
	for _, days := range cut[:min(len(cut), maxBatches)] {
		if err := r.addUpDays(ctx, l, days); err != nil {
			return false, err
		}
		report.Days += len(days)
	}
	report.More = report.More || len(cut) > maxBatches
	return empty || len(due) > 0, nil
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
