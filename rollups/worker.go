// Package rollups is the rollup worker: it follows the watermark, makes the lists of every window, and publishes them.
package rollups

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"topk/internal/clickhouse"
	"topk/internal/grade"
	"topk/internal/list"
	"topk/rollups/charts"
	"topk/rollups/grades"
	"topk/rollups/recount"
	"topk/rollups/slices"
	"topk/rollups/store"
	"topk/rollups/viewers"
)

const (
	progressPoll = 50 * time.Millisecond // how often Kafka is asked for commits; ClickHouse is asked only when there are any
	dueCheck     = 20 * time.Millisecond // how often a window looks whether it is due; no query
	keepEvery    = 5 * time.Second       // how often minutes are combined and old rows removed
	// keepSliceVersions is how long a reader may still ask for a version of a slice's list: there are hundreds of lists a minute.
	keepSliceVersions = 10 * time.Minute
	restEvent         = time.Second // least time between two looks for closed time, as recorded data passes
	firstBackoff      = 500 * time.Millisecond
	lastBackoff       = 10 * time.Second
)

// Worker makes and publishes lists while it holds the lock, and waits for it otherwise.
type Worker struct {
	config    Config
	conn      driver.Conn
	consumers *consumers
	log       *slog.Logger
	metrics   *metrics

	line      atomic.Pointer[waterline] // newest watermark; as_of never moves back in it
	asked     atomic.Int64              // when ClickHouse last answered, Unix nanoseconds
	elected   atomic.Int64              // when PostgreSQL last answered, Unix nanoseconds
	exact     *recount.Recounter
	recounted recounted
	grader    *grades.Grader
	made      map[string]*atomic.Int64 // by window, see newMade
	charts    *charts.Maker
	charted   charted
	slices    *slices.Maker
	viewers   *viewers.Filter
	gatherer  prometheus.Gatherer
}

// New checks the configuration. It does no I/O.
func New(config Config, log *slog.Logger, registry *prometheus.Registry) (*Worker, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	if config.Clock == ClockEvent {
		config.Recount.Debounce = min(config.Recount.Debounce, stillEvent) // recorded data comes as fast as it is read
	}
	conn, err := clickhouse.Open(config.ClickHouse)
	if err != nil {
		return nil, err
	}
	consumers, err := newConsumers(config.Brokers)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	config.Viewers.KeepEvents = config.KeepEvents
	w := &Worker{config: config, conn: conn, consumers: consumers, log: log, metrics: newMetrics(registry), gatherer: registry,
		exact:  recount.New(conn, config.Recount, log, registry),
		grader: grades.New(conn, config.Grades, list.Windows, log, grades.NewMetrics(registry)), made: newMade(),
		charts:  charts.New(conn, config.Charts, log, registry),
		slices:  slices.NewMaker(conn, config.Slices, log, registry),
		viewers: viewers.New(conn, config.Viewers, log, registry)}
	w.slices.Screen(w.viewers)
	return w, nil
}

// Run works until ctx ends. Engines that are away are waited for: the last good lists stay.
func (w *Worker) Run(ctx context.Context) (err error) {
	defer func() {
		w.consumers.close()
		err = errors.Join(err, w.conn.Close())
	}()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return w.serve(ctx) })
	group.Go(func() error { w.follow(ctx); return nil })
	group.Go(func() error { w.stand(ctx); return nil })
	return group.Wait()
}

// follow keeps the watermark, also on standby.
func (w *Worker) follow(ctx context.Context) {
	var told waterline
	wait := backoff{}
	follower := follower{conn: w.conn, consumers: w.consumers, timeout: w.config.IngestorTimeout}
	for {
		line, err := follower.ask(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			w.log.Warn("ask for the watermark", "error", err)
			wait.pause(ctx)
			continue
		}
		wait.reset()
		w.asked.Store(time.Now().UnixNano())
		line = w.advance(line)
		w.metrics.observe(line, time.Now())
		if len(line.missing) > 0 && len(told.missing) == 0 {
			w.log.Warn("nothing is published while partitions are missing", "missing", line.missing)
		}
		if len(line.missing) == 0 && len(told.missing) > 0 {
			w.log.Info("every partition is there")
		}
		told = line
		pause(ctx, progressPoll)
	}
}

// advance stores a watermark. It never moves back: what was published stays published.
func (w *Worker) advance(line waterline) waterline {
	if last := w.line.Load(); last != nil && line.ready() && line.asOf.Before(last.asOf) {
		line.asOf, line.mark = last.asOf, last.mark
	} else if last != nil && !line.ready() {
		line.asOf, line.mark = last.asOf, last.mark // what was known stays, missing says that it must not be used
	}
	w.line.Store(&line)
	return line
}

// stand waits for the lock, and leads while it is held.
func (w *Worker) stand(ctx context.Context) {
	wait := backoff{}
	for ctx.Err() == nil {
		leader, err := lead(ctx, w.config.Postgres)
		switch {
		case errors.Is(err, errStandby):
			w.elected.Store(time.Now().UnixNano())
			wait.reset()
			pause(ctx, standbyPoll)
			continue
		case err != nil:
			if ctx.Err() == nil {
				w.log.Warn("ask for the lock", "error", err)
			}
			wait.pause(ctx)
			continue
		}
		wait.reset()
		w.lead(ctx, leader)
	}
}

// lead builds and publishes until the lock is lost or ctx ends.
func (w *Worker) lead(ctx context.Context, l *leader) {
	w.log.Info("this worker leads")
	w.metrics.leading.Set(1)
	defer w.metrics.leading.Set(0)
	defer w.metrics.forgetAll()
	defer l.release()
	w.viewers.Lead()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return l.hold(ctx, func() { w.elected.Store(time.Now().UnixNano()) }) })
	for _, p := range w.publishers(l) {
		group.Go(func() error { w.publish(ctx, p); return nil })
	}
	group.Go(func() error { w.keep(ctx, l); return nil })
	group.Go(func() error { w.recount(ctx); return nil })
	group.Go(func() error { w.grade(ctx, l); return nil })
	group.Go(func() error { w.chart(ctx, l); return nil })
	group.Go(func() error { w.slice(ctx, l); return nil })
	if err := group.Wait(); err != nil {
		w.log.Warn("this worker no longer leads", "error", err)
	}
}

// rest is the pause between two looks for closed time. Under ClockEvent hours pass in no time, so it ends once as_of has moved, after a
// second.
func (w *Worker) rest(ctx context.Context, asOf time.Time, every time.Duration) {
	if w.config.Clock != ClockEvent {
		pause(ctx, every)
		return
	}
	pause(ctx, restEvent)
	for waited := restEvent; waited < every && w.line.Load().asOf.Equal(asOf) && ctx.Err() == nil; waited += dueCheck {
		pause(ctx, dueCheck)
	}
}

// publishers make the lists of each live window by itself, and those of all long ones together.
func (w *Worker) publishers(l *leader) []*publisher {
	all := make([]*publisher, 0, len(list.Live)+1)
	for _, window := range list.Live {
		builder := NewBuilder(w.conn, w.config.Builder, w.log, w.metrics.step)
		builder.Screen(w.viewers)
		all = append(all, &publisher{name: window.Name, windows: []list.Window{window},
			schedule: newSchedule(w.config.Every[window.Name], grade.Period(window.Name), w.config.Clock),
			build: func(ctx context.Context, asOf time.Time) ([]*list.List, error) {
				builder.KeptSince(asOf.Add(-w.config.KeepCounts))
				lists, err := builder.Build(ctx, window, asOf)
				if err == nil {
					err = w.stillKept(asOf.Add(-window.Length))
				}
				return lists, err
			}})
	}
	long := NewLong(w.conn, NewBuilder(w.conn, w.config.Builder, w.log, w.metrics.step), w.config.Recount.KeepVersions)
	long.open.Screen(w.viewers)
	all = append(all, &publisher{name: longName, windows: list.Long,
		build: func(ctx context.Context, asOf time.Time) ([]*list.List, error) {
			long.open.KeptSince(w.keptSince(asOf))
			lists, err := long.Build(ctx, asOf)
			if err == nil {
				err = w.stillKept(long.start)
			}
			return lists, err
		},
		schedule: newSchedule(w.config.EveryLong, grade.Period(grade.Day), w.config.Clock)})
	for _, p := range all {
		p.worker, p.leader, p.last = w, l, map[list.Key][]byte{}
		for _, window := range p.windows {
			if grade.Period(window.Name) > 0 {
				p.graded = window.Name
			}
		}
	}
	return all
}

// publish publishes lists whenever they are due. Publishers do not wait for one another.
func (w *Worker) publish(ctx context.Context, p *publisher) {
	wait := backoff{}
	for ctx.Err() == nil {
		if line := w.line.Load(); line != nil && line.ready() {
			if err := p.step(ctx, line.asOf); err != nil && ctx.Err() == nil {
				w.metrics.failures.WithLabelValues(p.name).Inc()
				w.log.Warn("the last good lists stay", "window", p.name, "error", err)
				wait.pause(ctx)
				continue
			}
			wait.reset()
		}
		pause(ctx, dueCheck)
	}
}

// keep combines summaries, fills sketches, rolls up hours and days, drops what is too old, and removes versions that nobody points to.
func (w *Worker) keep(ctx context.Context, l *leader) {
	roller, old := newRoller(w.conn), newDroppers(w.conn, w.config)
	for ctx.Err() == nil {
		if line := w.line.Load(); line != nil && line.ready() {
			if err := w.keepOnce(clickhouse.Patient(ctx), l, roller, old, line.asOf); err != nil && ctx.Err() == nil {
				w.log.Warn("keep house", "error", err)
			}
		}
		pause(ctx, keepEvery)
	}
}

// keptSince is the time before which landed counts may have been dropped.
func (w *Worker) keptSince(asOf time.Time) time.Time {
	landed, _ := w.recounted.ages(asOf)
	return landed.Add(-w.config.KeepCounts)
}

// stillKept fails when counts from then on may have been dropped while they were read, as recorded data flew by.
func (w *Worker) stillKept(from time.Time) error {
	if from.Before(w.keptSince(w.line.Load().asOf)) {
		return ErrNotKept
	}
	return nil
}

func (w *Worker) keepOnce(ctx context.Context, l *leader, roller *roller, old *droppers, asOf time.Time) error {
	for _, g := range grains {
		combined, err := compact(ctx, w.conn, g, asOf)
		w.metrics.compactions.Add(float64(combined))
		if err != nil {
			return fmt.Errorf("combine summaries: %w", err)
		}
	}
	rolled, all, err := roller.roll(ctx, asOf)
	w.metrics.rolled.Add(float64(rolled))
	if err != nil || !all {
		return err // nothing is dropped before it has been rolled up
	}
	if err := w.drop(ctx, old, asOf); err != nil {
		return fmt.Errorf("drop old partitions: %w", err)
	}
	lives := maps.Clone(w.config.KeepVersions)
	lives[list.TrendingWindow] = keepSliceVersions
	for window, life := range lives {
		removed, err := l.prune(ctx, window, store.Age{Before: time.Now().Add(-life), Slices: time.Now().Add(-min(life, keepSliceVersions)),
			Ungraded: asOf.Add(-w.config.Grades.KeepLists)})
		w.metrics.pruned.Add(float64(removed))
		if err != nil {
			return err
		}
	}
	return nil
}
