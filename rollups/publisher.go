package rollups

import (
	"bytes"
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"topk/internal/list"
)

// publisher makes the lists of one window, one after another.
type publisher struct {
	worker   *Worker
	leader   *leader
	window   list.Window
	builder  *Builder
	schedule *schedule
	last     map[string][]byte // item type -> the list last published
	forgot   time.Time         // as_of of the last look for lists that are made no more
}

// run builds for asOf, and publishes what differs from the last lists.
func (p *publisher) run(ctx context.Context, asOf time.Time) error {
	began := time.Now()
	p.builder.KeptSince(asOf.Add(-p.worker.config.KeepCounts))
	lists, err := p.builder.Build(ctx, p.window, asOf)
	if err != nil {
		return err
	}
	changed := make([]*list.List, 0, len(lists))
	bodies := make([][]byte, 0, len(lists))
	for _, l := range lists {
		encoded, err := encode(l)
		if err != nil {
			return err
		}
		if !bytes.Equal(encoded, p.last[l.ItemType]) {
			changed, bodies = append(changed, l), append(bodies, encoded)
		}
	}
	if len(changed) > 0 {
		stored := time.Now()
		var published int
		err := p.leader.do(ctx, func(ctx context.Context, conn *pgx.Conn) (err error) {
			published, err = publish(ctx, conn, changed, bodies)
			return err
		})
		if err != nil {
			return err
		}
		p.worker.metrics.step(p.window.Name, "publish", time.Since(stored))
		p.worker.metrics.published.WithLabelValues(p.window.Name).Add(float64(published))
	}
	for i, l := range changed {
		p.last[l.ItemType] = bodies[i]
		p.worker.metrics.list(l)
	}
	if err := p.forget(ctx, lists, asOf); err != nil {
		return err
	}
	if len(lists) == 0 {
		p.schedule.nothing(began)
		return nil
	}
	p.schedule.done(began, asOf, time.Since(began))
	return nil
}
