package rollups

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"topk/internal/list"
	"topk/rollups/store"
)

const (
	// forgetAfter is how long, in event time, the last list of an item type is served after no more are made of it. Its lists are
	// empty by then (typesSince): a day lets somebody who looks see why, and a type that pauses overnight stay known.
	forgetAfter = 24 * time.Hour
	// forgetEvery is how much event time passes between two looks.
	forgetEvery = time.Minute
	// keptTypes of which no lists are made stay, those of the newest lists: with those that lists are made of, no more than there
	// may be.
	keptTypes = list.MaxItemTypes - list.MaxMadeTypes
)

// forget lets go of item types that made, the lists of asOf, has none of: at once what this worker holds of them, and from
// time to time the pointers to their last lists.
func (p *publisher) forget(ctx context.Context, made []*list.List, asOf time.Time) error {
	still := make(map[list.Key]bool, len(made))
	for _, l := range made {
		still[l.Key()] = true
	}
	for key := range p.last {
		if !still[key] {
			delete(p.last, key)
			p.worker.metrics.forget(key.ItemType, key.Window)
		}
	}
	if asOf.Sub(p.forgot) < forgetEvery {
		return nil
	}
	for _, w := range p.windows {
		types := make([]string, 0, len(made)) // never nil, which PostgreSQL would take for an unknown set
		for _, l := range made {
			if l.Window == w.Name {
				types = append(types, l.ItemType)
			}
		}
		err := p.leader.do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
			forgotten, err := store.Forget(ctx, conn, w.Name, types, asOf.Add(-forgetAfter), keptTypes)
			p.worker.metrics.forgotten.Add(float64(forgotten))
			return err
		})
		if err != nil {
			return err
		}
	}
	p.forgot = asOf
	return nil
}
