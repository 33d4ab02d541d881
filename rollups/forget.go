package rollups

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"topk/internal/list"
)

const (
	// forgetAfter is how long, in event time, the last list of an item type is served after no more are made of it. Its lists are
	// empty by then (typesSince): a day lets somebody who looks see why, and a type that pauses overnight stay known.
	forgetAfter = 24 * time.Hour
	// forgetEvery is how much event time passes between two looks.
	forgetEvery = time.Minute
	// forgetBatch bounds the pointers removed of a window in one look, each with a notification; the rest waits for the next.
	forgetBatch = 500
	// keptTypes of which no lists are made stay, those of the newest lists: with those that lists are made of, no more than there
	// may be.
	keptTypes = list.MaxItemTypes - maxItemTypes
)

// forget removes the pointers to lists of a window that are made no more, made being the item types that still are. A worker
// that was away for long therefore removes nothing that it is about to make anew. It returns how many it removed.
func forget(ctx context.Context, conn *pgx.Conn, window string, made []string, asOf time.Time) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, postgresTimeout)
	defer cancel()
	tag, err := conn.Exec(ctx, query("forget"), window, list.GlobalSlice, made, asOf.Add(-forgetAfter), keptTypes, forgetBatch)
	if err != nil {
		return 0, fmt.Errorf("forget item types of %s: %w", window, err)
	}
	return tag.RowsAffected(), nil
}

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
			forgotten, err := forget(ctx, conn, w.Name, types, asOf)
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
