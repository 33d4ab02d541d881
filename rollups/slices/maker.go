package slices

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"topk/internal/list"
	"topk/rollups/store"
	"topk/rollups/viewers"
)

const (
	// Reach is how far back minutes are filled: the longest live window, and what may be open before recounts of it.
	Reach = 3 * time.Hour
	// storedItems of a list are published, more are counted when somebody asks for them: a hundred is what is shown, and some beside
	// them for those that a reader leaves out.
	storedItems = 120
	// trendsOf is the window whose slices have lists of items that trend.
	trendsOf = "1h"
	// publishBatch bounds the lists of one transaction: each is some 15 kB.
	publishBatch = 200
)

// Maker fills minutes, makes the lists of the busiest slices and of those that are asked for, and publishes them, round by round. It is not
// safe for concurrent use.
type Maker struct {
	config  Config
	log     *slog.Logger
	metrics *metrics
	filler  *Filler
	builder *Builder
	trended time.Time         // as_of of the last lists of items that trend
	wanted  map[Key]time.Time // slices that have lists, and at which as_of they were last among the busiest
}

// NewMaker does no I/O. registry may be nil. The configuration must be valid.
func NewMaker(conn driver.Conn, config Config, log *slog.Logger, registry prometheus.Registerer) *Maker {
	return &Maker{config: config, log: log, metrics: newMetrics(registry), filler: NewFiller(conn, config), builder: NewBuilder(conn, config),
		wanted: map[Key]time.Time{}}
}

// Screen has items with too few viewers left out; nil leaves none out.
func (m *Maker) Screen(f *viewers.Filter) { m.builder.Screen(f) }

// Round makes the lists that end at asOf, a whole minute before which every event is there, and publishes them. kept fails when what was
// counted since a time may have been dropped meanwhile: then nothing is published. A window of which minutes are still to be filled has no
// new list.
func (m *Maker) Round(ctx context.Context, db store.DB, asOf time.Time, kept func(since time.Time) error) error {
	err := m.round(ctx, db, asOf, kept)
	if err != nil {
		m.metrics.failures.Inc()
	}
	return err
}

func (m *Maker) round(ctx context.Context, db store.DB, asOf time.Time, kept func(since time.Time) error) error {
	done := m.metrics.step("fill")
	filled, err := m.filler.Fill(ctx, asOf.Add(-Reach), asOf)
	m.metrics.filled.Add(float64(filled))
	if err != nil {
		return err
	}
	done()
	wanted, err := m.choose(ctx, db, asOf)
	if err != nil {
		return err
	}
	done = m.metrics.step("fill closed")
	closed, err := m.filler.FillClosed(ctx, asOf)
	m.metrics.filledParts.Add(float64(closed))
	switch {
	case err != nil && ctx.Err() != nil:
		return err
	case err != nil: // lists of live windows do without
		m.metrics.failures.Inc()
		m.log.Warn("closed hours of slices", "error", err)
	default:
		done()
	}
	var lists []*list.List
	var made []*Made
	var windows []string
	for _, w := range list.Windows {
		if len(wanted[w.Name]) == 0 {
			windows = append(windows, w.Name) // none of its lists is made any longer
			continue
		}
		done := m.metrics.step("build " + w.Name)
		one, err := m.builder.Build(ctx, w, asOf, wanted[w.Name], storedItems)
		switch {
		case errors.Is(err, ErrNotFilled):
			m.log.Info("no new lists of slices yet", "window", w.Name, "reason", err)
			continue
		case err != nil:
			return fmt.Errorf("make the lists of slices of %s: %w", w.Name, err)
		}
		done()
		m.metrics.made(w.Name, one.Lists)
		windows, lists, made = append(windows, w.Name), append(lists, one.Lists...), append(made, one)
	}
	trending, err := m.trend(ctx, wanted, asOf)
	if err != nil {
		return err
	}
	if err := kept(asOf.Add(-Reach)); err != nil {
		return err
	}
	done = m.metrics.step("publish")
	if err := m.publish(ctx, db, list.GlobalSlice, windows, lists); err != nil {
		return err
	}
	if trending != nil {
		if err := m.publish(ctx, db, "", []string{list.TrendingWindow}, trending); err != nil {
			return err
		}
		if len(trending) > 0 { // before the first views there are none
			m.trended = asOf
		}
	}
	done()
	return m.filler.Follow(ctx, made...)
}

// trend makes the lists of items that trend, of all views and of the slices that have lists of an hour; nil when they are not due.
func (m *Maker) trend(ctx context.Context, wanted wishes, asOf time.Time) ([]*list.List, error) {
	if since := asOf.Sub(m.trended); since >= 0 && since < m.config.EveryTrend {
		return nil, nil
	}
	done := m.metrics.step("trend")
	lists, err := m.builder.Trends(ctx, asOf, wanted[trendsOf], true, storedItems)
	switch {
	case errors.Is(err, ErrNotFilled):
		m.log.Info("no new lists of what trends yet", "reason", err)
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("make the lists of what trends: %w", err)
	}
	done()
	m.metrics.made(list.TrendingWindow, lists)
	return append([]*list.List{}, lists...), nil // never nil
}

// publish stores lists, and stops serving those of the same windows that are made no more, but those of the slice spared.
func (m *Maker) publish(ctx context.Context, db store.DB, spared string, windows []string, lists []*list.List) error {
	keys := make([]list.Key, len(lists))
	for i, l := range lists {
		keys[i] = l.Key()
	}
	for batch := range slices.Chunk(lists, publishBatch) {
		bodies := make([][]byte, len(batch))
		for i, l := range batch {
			var err error
			if bodies[i], err = store.Encode(l); err != nil {
				return err
			}
		}
		err := db(ctx, func(ctx context.Context, conn *pgx.Conn) error {
			published, err := store.Publish(ctx, conn, batch, bodies)
			m.metrics.published.Add(float64(published))
			return err
		})
		if err != nil {
			return err
		}
	}
	return db(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		forgotten, err := store.KeepSlices(ctx, conn, spared, windows, keys)
		m.metrics.forgotten.Add(float64(forgotten))
		return err
	})
}
