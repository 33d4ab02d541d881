package slices

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"topk/rollups/store"
	"topk/rollups/viewers"
)

const (
	// Reach is how far back minutes are filled: the longest live window, and what may be open before recounts of it.
	Reach = 3 * time.Hour
	// storedItems of a list are published, more are counted when somebody asks for them: a hundred is what is shown, and some beside
	// them for those that a reader leaves out.
	storedItems = 120
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
	if err := m.fill(ctx, asOf); err != nil {
		return err
	}
	busiest, asked, err := m.choose(ctx, db, asOf)
	if err != nil {
		return err
	}
	if err := m.fillClosed(ctx, asOf); err != nil {
		return err
	}
	r := &round{Maker: m, db: db, asOf: asOf, kept: kept, stay: map[string]bool{}}
	if err := r.windows(ctx, busiest, time.Time{}); err != nil {
		return err
	}
	if err := r.trends(ctx, busiest, asked); err != nil {
		return err
	}
	if err := r.windows(ctx, asked, time.Now().Add(askedBudget)); err != nil {
		return err
	}
	if err := r.forget(ctx); err != nil {
		return err
	}
	m.metrics.made(r.lists)
	return errors.Join(r.failed, m.filler.Follow(ctx, r.made...))
}

func (m *Maker) fill(ctx context.Context, asOf time.Time) error {
	done := m.metrics.step("fill")
	filled, err := m.filler.Fill(ctx, asOf.Add(-Reach), asOf)
	m.metrics.filled.Add(float64(filled))
	if err == nil {
		done()
	}
	return err
}

// fillClosed fails only when ctx ends: lists of live windows do without closed hours.
func (m *Maker) fillClosed(ctx context.Context, asOf time.Time) error {
	done := m.metrics.step("fill closed")
	closed, err := m.filler.FillClosed(ctx, asOf)
	m.metrics.filledParts.Add(float64(closed))
	switch {
	case err != nil && ctx.Err() != nil:
		return err
	case err != nil:
		m.metrics.failures.Inc()
		m.log.Warn("closed hours of slices", "error", err)
	default:
		done()
	}
	return nil
}
