package rollups

import (
	"context"
	"time"

	"topk/internal/clickhouse"
)

// slice makes the lists of slices while this worker leads, once a minute. Beside counting and the lists of all views they get what is left:
// a round that takes longer is followed by a pause.
func (w *Worker) slice(ctx context.Context, l *leader) {
	if w.config.Slices.Lists == 0 {
		return
	}
	wait := backoff{}
	schedule := newSchedule(w.config.EverySlices, 0, w.config.Clock)
	schedule.revise = w.config.KeepCounts // what comes late is in the lists of the next minute
	for ctx.Err() == nil {
		line := w.line.Load()
		if line == nil || !line.ready() {
			pause(ctx, dueCheck)
			continue
		}
		asOf := line.asOf.Truncate(time.Minute)
		began := time.Now()
		if asOf, due := schedule.next(began, asOf); due {
			if err := w.slices.Round(clickhouse.Patient(ctx), l.do, asOf, w.stillKept); err != nil {
				if ctx.Err() == nil {
					w.log.Warn("the last good lists of slices stay", "error", err)
				}
				wait.pause(ctx)
				continue
			}
			wait.reset()
			schedule.done(began, asOf, time.Since(began))
		}
		pause(ctx, dueCheck)
	}
}
