package recount

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/clickhouse"
)

// Range is a stretch of hours to recount by hand.
type Range struct {
	From, Until time.Time
	Resume      bool                  // leave out hours that a run over the same range has done within ResumeWithin
	Force       bool                  // count also hours whose events are not all kept any more: from those that are
	Progress    func(done, hours int) // called after each statement; may be nil
}

// ResumeWithin is how long ago an hour may have been done for Resume to leave it out.
const ResumeWithin = 7 * day

// Validate reports every mistake at once.
func (g Range) Validate() error {
	var mistakes []error
	if g.From.IsZero() || g.Until.IsZero() {
		mistakes = append(mistakes, errors.New("from and to: give both, such as 2026-01-31T10:00:00Z or 2026-01-31"))
	}
	for name, at := range map[string]time.Time{"from": g.From, "to": g.Until} {
		if !at.Equal(at.Truncate(time.Hour)) {
			mistakes = append(mistakes, fmt.Errorf("%s: %s is not the start of an hour (UTC)", name, at.Format(time.RFC3339)))
		}
	}
	if !g.From.IsZero() && !g.Until.IsZero() && !g.From.Before(g.Until) {
		mistakes = append(mistakes, fmt.Errorf("to: %s is not after %s", g.Until.Format(time.RFC3339), g.From.Format(time.RFC3339)))
	}
	return errors.Join(mistakes...)
}

// why marks the hours of a run in the ledger, so that the next one can go on.
func (g Range) why() string {
	return fmt.Sprintf("%s: %s to %s", WhyByHand, g.From.UTC().Format(time.RFC3339), g.Until.UTC().Format(time.RFC3339))
}

// RangeReport is what a run did. Next is where to go on after an interruption: hours are done in their order.
type RangeReport struct {
	Hours, Done, Skipped int
	Kept                 []time.Time // hours whose events are not all kept any more; their counts stay
	Next                 time.Time
}

// Recount counts every hour of a range anew that the worker has closed, then brings days and totals up to date. Ended early, it
// has done every hour before report.Next.
func (r *Recounter) Recount(ctx context.Context, g Range) (report RangeReport, err error) {
	if err := g.Validate(); err != nil {
		return report, err
	}
	hours, closed, err := r.choose(ctx, g)
	if err != nil {
		return report, err
	}
	report.Hours, report.Next = len(hours), g.From
	todo := slices.DeleteFunc(hours, func(h chosenHour) bool { return h.done })
	report.Skipped = report.Hours - len(todo)
	for _, batch := range batches(todo, r.config.BatchEvents, maxBatchHours, func(h chosenHour) uint64 { return h.rows }) {
		report.Next = batch[0].hour
		if err := ctx.Err(); err != nil {
			return report, err
		}
		gone, err := r.recount(ctx, chosen(batch), g.why(), g.Force)
		if err != nil {
			return report, err
		}
		report.Kept = append(report.Kept, gone...)
		report.Done += len(batch) - len(gone)
		if g.Progress != nil {
			g.Progress(report.Done+report.Skipped+len(report.Kept), report.Hours)
		}
	}
	report.Next = g.Until
	return report, r.sumUp(ctx, closed)
}

// sumUp brings days and the total up to date, however many days differ.
func (r *Recounter) sumUp(ctx context.Context, closed time.Time) error {
	for more := true; more; {
		l, err := readLedger(ctx, r.conn)
		if err != nil {
			return err
		}
		var report Report
		if _, err = r.sums(ctx, l, closed, &report); err != nil {
			return err
		}
		more = report.More
	}
	return nil
}

// chosenHour is an hour of the range that is in the ledger.
type chosenHour struct {
	hour time.Time
	rows uint64 // of events
	done bool
}

func chosen(batch []chosenHour) []time.Time {
	hours := make([]time.Time, len(batch))
	for i, h := range batch {
		hours[i] = h.hour
	}
	return hours
}

// choose returns the hours of the range that the worker has closed, and up to when it has closed any.
func (r *Recounter) choose(ctx context.Context, g Range) (hours []chosenHour, closed time.Time, err error) {
	p := clickhouse.Parameters{"from": g.From, "until": g.Until, "why": "", "within": int(ResumeWithin / time.Second)}
	if g.Resume {
		p["why"] = g.why()
	}
	err = questions.Read(ctx, r.conn, "chosen_hours", p, askBudget, func(rows driver.Rows) error {
		var h chosenHour
		err := rows.Scan(&h.hour, &h.rows, &h.done, &closed)
		h.hour = h.hour.UTC()
		hours = append(hours, h)
		return err
	})
	if err == nil && len(hours) == 0 {
		err = errors.New("the rollup worker has closed no hour of that range (it does ten minutes after an hour's end)")
	}
	return hours, closed.UTC(), err
}
