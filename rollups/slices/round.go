package slices

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"topk/internal/list"
	"topk/rollups/store"
)

const (
	// askedBudget is when a round makes no further lists that were asked for: unions that overlap are a question each, and anybody can ask. They
	// are made on demand then. askedBatch of them are made between two looks at the clock.
	askedBudget = 15 * time.Second
	askedBatch  = 16
	// trendsOf is the window whose slices have lists of items that trend.
	trendsOf = "1h"
	// publishBatch bounds the lists of one transaction: each is some 15 kB.
	publishBatch = 200
)

// round is the making and publishing of the lists that end at one moment.
type round struct {
	*Maker
	db     store.DB
	asOf   time.Time
	kept   func(since time.Time) error
	made   []*Made
	lists  []*list.List    // that were published
	stay   map[string]bool // windows whose lists stay as they are, as some could not be made
	failed error           // why, where it was no lack of filled minutes
	again  bool            // closed hours were filled a second time
}

// filled makes something, and once more where an hour was counted after closed hours were filled: lists do not wait for the next minute then.
func (r *round) filled(ctx context.Context, do func() error) error {
	err := do()
	if !errors.Is(err, ErrNotFilled) || r.again {
		return err
	}
	r.again = true
	if err := r.fillClosed(ctx, r.asOf); err != nil {
		return err
	}
	return do()
}

// windows makes and publishes lists of windows. It begins no further ones after a deadline, if there is one. A window that fails does not keep the others
// from having lists.
func (r *round) windows(ctx context.Context, wanted wishes, deadline time.Time) error {
	var lists []*list.List
	for _, w := range list.Windows {
		if len(wanted[w.Name]) == 0 {
			continue
		}
		done := r.metrics.step("build " + w.Name)
		var made []*Made
		err := r.filled(ctx, func() (err error) {
			made, err = r.build(ctx, w, wanted[w.Name], deadline)
			return err
		})
		r.made = append(r.made, made...)
		for _, one := range made {
			lists = append(lists, one.Lists...)
		}
		switch {
		case errors.Is(err, ErrNotFilled):
			r.stay[w.Name] = true
			r.log.Info("no new lists of slices yet", "window", w.Name, "reason", err)
		case err != nil && ctx.Err() != nil:
			return err
		case err != nil:
			r.stay[w.Name], r.failed = true, errors.Join(r.failed, fmt.Errorf("make the lists of slices of %s: %w", w.Name, err))
		default:
			done()
		}
	}
	return r.publish(ctx, lists)
}

// build makes lists of a window: all together, or until a deadline some at a time.
func (r *round) build(ctx context.Context, w list.Window, wanted map[string][]Union, deadline time.Time) (made []*Made, err error) {
	if deadline.IsZero() {
		one, err := r.builder.Build(ctx, w, r.asOf, wanted, storedItems)
		if err != nil {
			return nil, err
		}
		return []*Made{one}, nil
	}
	for _, itemType := range slices.Sorted(maps.Keys(wanted)) {
		for unions := range slices.Chunk(wanted[itemType], askedBatch) {
			if time.Now().After(deadline) {
				r.metrics.overBudget.Add(float64(len(unions)))
				continue
			}
			one, err := r.builder.Build(ctx, w, r.asOf, map[string][]Union{itemType: unions}, storedItems)
			if err != nil {
				return made, err
			}
			made = append(made, one)
		}
	}
	return made, nil
}

// trends makes and publishes the lists of items that trend, when they are due: of all views, of the slices that have lists of an hour, and of
// those asked for.
func (r *round) trends(ctx context.Context, busiest, asked wishes) error {
	if since := r.asOf.Sub(r.trended); since >= 0 && since < r.config.EveryTrend {
		r.stay[list.TrendingWindow] = true
		return nil
	}
	wanted := wishes{}
	for _, some := range []map[string][]Union{busiest[trendsOf], asked[trendsOf], asked[list.TrendingWindow]} {
		for itemType, unions := range some {
			for _, u := range unions {
				wanted.add(list.TrendingWindow, itemType, u)
			}
		}
	}
	done := r.metrics.step("trend")
	var lists []*list.List
	err := r.filled(ctx, func() (err error) {
		lists, err = r.builder.Trends(ctx, r.asOf, wanted[list.TrendingWindow], true, storedItems)
		return err
	})
	switch {
	case errors.Is(err, ErrNotFilled):
		r.stay[list.TrendingWindow] = true
		r.log.Info("no new lists of what trends yet", "reason", err)
		return nil
	case err != nil && ctx.Err() != nil:
		return err
	case err != nil:
		r.stay[list.TrendingWindow], r.failed = true, errors.Join(r.failed, fmt.Errorf("make the lists of what trends: %w", err))
		return nil
	}
	done()
	return r.publish(ctx, lists)
}

// publish stores lists, unless what they are made of may have been dropped meanwhile.
func (r *round) publish(ctx context.Context, lists []*list.List) error {
	if err := r.kept(r.asOf.Add(-Reach)); err != nil {
		return err
	}
	defer r.metrics.step("publish")()
	for batch := range slices.Chunk(lists, publishBatch) {
		bodies := make([][]byte, len(batch))
		for i, l := range batch {
			var err error
			if bodies[i], err = store.Encode(l); err != nil {
				return err
			}
		}
		err := r.db(ctx, func(ctx context.Context, conn *pgx.Conn) error {
			published, err := store.Publish(ctx, conn, batch, bodies)
			r.metrics.published.Add(float64(published))
			return err
		})
		if err != nil {
			return err
		}
		r.lists = append(r.lists, batch...)
	}
	return nil
}

// forget stops serving the lists of slices that are made no more.
func (r *round) forget(ctx context.Context) error {
	var windows []string
	for _, w := range list.Windows {
		if !r.stay[w.Name] {
			windows = append(windows, w.Name)
		}
	}
	keys := make([]list.Key, len(r.lists))
	for i, l := range r.lists {
		keys[i] = l.Key()
	}
	keep := func(spared string, windows ...string) error {
		return r.db(ctx, func(ctx context.Context, conn *pgx.Conn) error {
			forgotten, err := store.KeepSlices(ctx, conn, spared, windows, keys)
			r.metrics.forgotten.Add(float64(forgotten))
			return err
		})
	}
	if err := keep(list.GlobalSlice, windows...); err != nil { // lists of all views are others' business
		return err
	}
	if r.stay[list.TrendingWindow] {
		return nil
	}
	if err := keep("", list.TrendingWindow); err != nil {
		return err
	}
	if slices.ContainsFunc(r.lists, func(l *list.List) bool { return l.Window == list.TrendingWindow }) { // before the first views there are none
		r.trended = r.asOf
	}
	return nil
}
