package rollups

import (
	"context"
	"sync/atomic"
	"time"

	"topk/internal/clickhouse"
	"topk/internal/list"
)

// gradeEvery is how often the worker looks whether the time of a list has become exact. A look asks two questions of a few
// milliseconds, and a grade is some ten minutes behind its list anyway.
const gradeEvery = 10 * time.Second

// grade compares lists with exact counts while this worker leads. It fails into the next round: what is to be graded is kept.
func (w *Worker) grade(ctx context.Context, l *leader) {
	defer w.grader.Forget()
	wait := backoff{}
	for ctx.Err() == nil {
		line := w.line.Load()
		if line == nil || !line.ready() {
			pause(ctx, gradeEvery)
			continue
		}
		made := map[string]time.Time{}
		for window, seconds := range w.made {
			made[window] = time.Unix(seconds.Load(), 0)
		}
		if _, err := w.grader.Round(clickhouse.Patient(ctx), l.do, line.asOf, made); err != nil {
			if ctx.Err() == nil {
				w.metrics.ungraded.Inc()
				w.log.Warn("grade lists", "error", err)
			}
			wait.pause(ctx)
			continue
		}
		wait.reset()
		w.rest(ctx, line.asOf, gradeEvery)
	}
}

// newMade says of no window yet up to which as_of its lists are behind, in seconds since 1970. What it says later stays true when another
// worker leads meanwhile: no list of before is still to come.
func newMade() map[string]*atomic.Int64 {
	made := map[string]*atomic.Int64{}
	for _, w := range list.Windows {
		made[w.Name] = &atomic.Int64{}
	}
	return made
}
