package rollups

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"topk/internal/list"
	"topk/rollups/store"
)

// publisher makes the lists of one window, or of several together, one after another.
type publisher struct {
	worker   *Worker
	leader   *leader
	name     string // of the windows in metrics and logs
	windows  []list.Window
	build    func(ctx context.Context, asOf time.Time) ([]*list.List, error) // all that are made at asOf
	schedule *schedule
	last     map[list.Key][]byte // the list last published
	forgot   time.Time           // as_of of the last look for lists that are made no more
	graded   string              // the window of them that is graded; empty when none is
	resumed  bool                // the schedule knows of the lists that others have made
}

// resume tells the schedule up to when lists of the window were made before this worker led: an end that has passed since is made up
// for. Lists later than the watermark are of other recorded data.
func (p *publisher) resume(ctx context.Context, newest time.Time) error {
	if p.resumed || p.schedule.period == 0 {
		return nil
	}
	return p.leader.do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		asOf, err := store.Reached(ctx, conn, p.graded)
		if err != nil {
			return err
		}
		if p.resumed = true; !asOf.After(newest) {
			p.schedule.resume(asOf)
		}
		return nil
	})
}

// step makes the lists that are due, newest being the watermark.
func (p *publisher) step(ctx context.Context, newest time.Time) error {
	if err := p.resume(ctx, newest); err != nil {
		return err
	}
	asOf, due := p.schedule.next(time.Now(), newest)
	if !due {
		return nil
	}
	err := p.run(ctx, asOf)
	if err != nil {
		p.schedule.fail(asOf, err)
	}
	if p.graded != "" {
		p.worker.made[p.graded].Store(p.schedule.passed.Unix())
	}
	if err != nil {
		return fmt.Errorf("make lists of %s at %s: %w", p.name, asOf.Format(time.RFC3339), err)
	}
	return nil
}

// run builds for asOf, and publishes what differs from the last lists.
func (p *publisher) run(ctx context.Context, asOf time.Time) error {
	began := time.Now()
	lists, err := p.build(ctx, asOf)
	if err != nil {
		return err
	}
	changed := make([]*list.List, 0, len(lists))
	bodies := make([][]byte, 0, len(lists))
	for _, l := range lists {
		encoded, err := store.Encode(l)
		if err != nil {
			return err
		}
		if !bytes.Equal(encoded, p.last[l.Key()]) {
			changed, bodies = append(changed, l), append(bodies, encoded)
		}
	}
	if len(changed) > 0 {
		stored := time.Now()
		var published int
		err := p.leader.do(ctx, func(ctx context.Context, conn *pgx.Conn) (err error) {
			published, err = store.Publish(ctx, conn, changed, bodies)
			return err
		})
		if err != nil {
			return err
		}
		p.worker.metrics.step(p.name, "publish", time.Since(stored))
		p.worker.metrics.published.WithLabelValues(p.name).Add(float64(published))
	}
	for i, l := range changed {
		p.last[l.Key()] = bodies[i]
		p.worker.metrics.list(l)
	}
	if err := p.forget(ctx, lists, asOf); err != nil {
		return err
	}
	if len(lists) == 0 {
		p.schedule.nothing(began, asOf)
		return nil
	}
	p.schedule.done(began, asOf, time.Since(began))
	return nil
}
