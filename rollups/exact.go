package rollups

import (
	"context"
	"sync/atomic"
	"time"

	"topk/internal/clickhouse"
	"topk/rollups/recount"
)

// recountEvery is how often the worker looks for hours that closed or changed. A look costs some 15 ms of one core.
const recountEvery = 5 * time.Second

// recounted remembers, on the event clock, what the last round of recounts that found it out has left to do.
type recounted struct{ round atomic.Pointer[round] }

// round of recounts: what it was asked for, and the earliest hours that it left.
type round struct {
	asOf           time.Time
	uncounted, due time.Time // as in recount.Report; zero when there is none
}

// note takes over what a round has found out, also one that failed in part. A round that found out nothing leaves what was known: less is
// dropped then.
func (r *recounted) note(asOf time.Time, report recount.Report) {
	if !report.Known {
		return
	}
	r.round.Store(&round{asOf: asOf, uncounted: report.Uncounted, due: report.Due})
}

// ages are the times from which the age of rows is reckoned: asOf, unless recounts are behind. Landed counts stay while an hour
// has no exact ones, and raw events while any of them is in no recount. Before the first round nothing is old.
func (r *recounted) ages(asOf time.Time) (landed, events time.Time) {
	last := r.round.Load()
	if last == nil {
		return time.Time{}, time.Time{}
	}
	if last.asOf.Before(asOf) {
		asOf = last.asOf
	}
	landed, events = asOf, asOf
	if !last.uncounted.IsZero() && last.uncounted.Before(asOf) {
		landed = last.uncounted
	}
	if !last.due.IsZero() && last.due.Before(asOf) {
		events = last.due
	}
	return landed, events
}

// recount makes hours exact when they close or change, while this worker leads. It fails into the next round: what counted
// before still counts. What is older than an hour that fails for good is dropped nonetheless.
func (w *Worker) recount(ctx context.Context) {
	wait := backoff{}
	for ctx.Err() == nil {
		line := w.line.Load()
		if line == nil || !line.ready() {
			pause(ctx, recountEvery)
			continue
		}
		report, err := w.exact.Round(clickhouse.Patient(ctx), line.asOf)
		w.recounted.note(line.asOf, report)
		if err == nil || report.Hours+report.Days > 0 {
			wait.reset() // what failed does not slow down the rest
		}
		if err != nil {
			if ctx.Err() == nil {
				w.log.Warn("recount", "error", err)
			}
			wait.pause(ctx)
			continue
		}
		if !report.More {
			w.rest(ctx, line.asOf, recountEvery)
		}
	}
}
