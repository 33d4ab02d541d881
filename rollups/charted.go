package rollups

import (
	"context"
	"sync/atomic"
	"time"
)

// chartEvery is how often the worker looks for days to chart. A look costs some 40 ms of one core.
const chartEvery = 10 * time.Second

// charted remembers, on the event clock, what the last round of charts has left to do.
type charted struct {
	needed atomic.Pointer[time.Time] // raw events from then on must stay; nil before the first round
}

// eventsNotBefore is the time from which the age of raw events is reckoned, so that none are dropped that charts are still to be
// counted from: asOf, or life after what is needed.
func (c *charted) eventsNotBefore(asOf time.Time, life time.Duration) time.Time {
	needed := c.needed.Load()
	switch {
	case needed == nil:
		return time.Time{}
	case needed.Add(life).Before(asOf):
		return needed.Add(life)
	default:
		return asOf
	}
}

// chart makes day charts while this worker leads. It fails into the next round: charts that were made stay.
func (w *Worker) chart(ctx context.Context, l *leader) {
	wait := backoff{}
	for ctx.Err() == nil {
		line := w.line.Load()
		if line == nil || !line.ready() {
			pause(ctx, chartEvery)
			continue
		}
		report, err := w.charts.Round(ctx, l.do, line.asOf)
		if !report.Needed.IsZero() {
			w.charted.needed.Store(&report.Needed)
		}
		if err != nil {
			if ctx.Err() == nil {
				w.log.Warn("chart days", "error", err)
			}
			wait.pause(ctx)
			continue
		}
		wait.reset()
		if !report.More {
			w.rest(ctx, line.asOf, chartEvery)
		}
	}
}
