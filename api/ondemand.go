package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/singleflight"

	"topk/internal/clickhouse"
	"topk/internal/list"
	"topk/internal/slice"
	"topk/rollups/slices"
	"topk/rollups/viewers"
)

// Bounds of making lists on demand.
const (
	// demandBuilds are made at a time: ClickHouse has the stream to count.
	demandBuilds = 2
	// maxDemandWaiting more may wait for them, each demandWait at the most: then the client had better come again.
	maxDemandWaiting = 200
	demandWait       = 2 * time.Second
	// demandLimit is what one may take.
	demandLimit = 5 * time.Second
	// demandCounts is when no more items are counted that the minutes leave open: within a second there should be an answer. The list is
	// then shorter, and as true.
	demandCounts = 250 * time.Millisecond
	// demandItems of a list are made: as many as can be asked for.
	demandItems = list.MaxK
	// maxAbsent bounds the lists that stand for unknown slices: one an item type and window.
	maxAbsent, maxAbsentBytes = 256, 1 << 20
	// absentName is the name of no slice, which all unknown ones have the list of.
	absentName = "absent"
)

var errBusy = errors.New("too many lists are being made on demand")

// onDemand makes lists of slices that have no published one, from what ClickHouse holds of their minutes.
type onDemand struct {
	conn    driver.Conn
	builder *slices.Builder
	fresh   freshness
	log     *slog.Logger
	metrics *demandMetrics
	now     func() time.Time

	horizon  *horizon
	known    *known
	cache    *demandCache
	absent   *lru[demandKey, *absence]
	building singleflight.Group
	unfilled *lru[string, *unfilled] // by window
	slots    chan struct{}
	waiting  atomic.Int64
	failing  atomic.Bool
}

// unfilled is a window of which a minute was still to be filled, when that was found out.
type unfilled struct {
	at  time.Time
	err error
}

// demand is how lists are made on demand.
func (c Config) demand(kept slice.Kept) slices.Config {
	config := slices.DefaultConfig()
	config.Kept, config.Budget, config.CountBudget, config.Hasty = kept, demandLimit, demandCounts, true
	config.TrendFloor, config.EveryTrend = c.TrendFloor, c.EveryTrend
	return config
}

// newOnDemand does no I/O.
func newOnDemand(c Config, kept slice.Kept, log *slog.Logger, registry prometheus.Registerer, m *demandMetrics, now func() time.Time) (*onDemand, error) {
	conn, err := clickhouse.Open(c.ClickHouse)
	if err != nil {
		return nil, err
	}
	config := c.demand(kept)
	d := &onDemand{conn: conn, builder: slices.NewBuilder(conn, config), fresh: c.freshness(), log: log, metrics: m, now: now,
		known: &known{conn: conn}, cache: newDemandCache(), absent: newLRU[demandKey, *absence](maxAbsent, maxAbsentBytes),
		unfilled: newLRU[string, *unfilled](len(list.Windows), maxAbsentBytes),
		slots:    make(chan struct{}, demandBuilds)}
	d.horizon = &horizon{now: now, read: func(ctx context.Context) (time.Time, error) {
		return slices.ReadHorizon(clickhouse.Patient(ctx), conn, config)
	}}
	registry.MustRegister(d.cache)
	d.builder.Screen(viewers.NewReader(conn, c.Viewers, log, registry))
	return d, nil
}

// demandWindow is what is looked at for a list of a window: for one of items that trend the last hour, without views in which none does.
func demandWindow(name string) (list.Window, error) {
	if name == list.TrendingWindow {
		return list.Window{Name: name, Length: time.Hour}, nil
	}
	return list.ParseWindow(name)
}

// ready returns a list that was made just now, or nil. It never waits for ClickHouse.
func (d *onDemand) ready(key demandKey) *demanded {
	now := d.now()
	held := d.cache.get(key, now)
	if held == nil || !held.fresh(now) {
		return nil
	}
	d.metrics.answers.WithLabelValues(fromCache).Inc()
	return held
}

// list returns the list of a slice: one that was made just now, one that is made now, for all who ask for it at a time, or, as stale, the last
// one when that fails.
func (d *onDemand) list(ctx context.Context, key demandKey) (made *demanded, stale bool, err error) {
	if held := d.ready(key); held != nil {
		return held, false, nil
	}
	if held := d.cache.get(key, d.now()); held != nil && d.now().UnixNano() < held.retryAt.Load() {
		d.metrics.answers.WithLabelValues(fromStale).Inc()
		return held, true, nil
	}
	answer, err, _ := d.building.Do(keyText(key), func() (any, error) {
		if held := d.cache.get(key, d.now()); held != nil && held.fresh(d.now()) {
			return held, nil // it was made since
		}
		return d.make(clickhouse.Patient(context.WithoutCancel(ctx)), key) // others wait for it too
	})
	if made, ok := answer.(*demanded); ok && err == nil {
		from := fromBuild
		if made.absent {
			from = fromAbsent
		}
		d.metrics.answers.WithLabelValues(from).Inc()
		return made, false, nil
	}
	if held := d.cache.get(key, d.now()); held != nil {
		held.retryAt.Store(d.now().Add(demandRetry).UnixNano())
		d.metrics.answers.WithLabelValues(fromStale).Inc()
		return held, true, nil
	}
	d.metrics.answers.WithLabelValues(fromNone).Inc()
	return nil, false, err
}

// keyText separates by what no part contains.
func keyText(key demandKey) string { return key.ItemType + "\x00" + key.Window + "\x00" + key.Slice }

// make makes a list and keeps it, unless it is of a slice that is not known.
func (d *onDemand) make(ctx context.Context, key demandKey) (*demanded, error) {
	window, err := demandWindow(key.Window)
	if err != nil {
		return nil, err
	}
	s, err := slice.Parse(key.Slice)
	if err != nil {
		return nil, err
	}
	if missing := d.unfilled.get(key.Window); missing != nil && d.now().Sub(missing.at) < horizonEvery {
		return nil, missing.err
	}
	union := slices.Union{Name: key.Slice, Members: s.Parts()}
	until, err := d.horizon.get(ctx)
	if err != nil {
		return nil, d.failed(err)
	}
	known, err := d.known.get(ctx, until, 0)
	if err != nil {
		return nil, d.failed(err)
	}
	if !known.any(key.ItemType, union.Members, window.From(until)) {
		made, err := d.makeAbsent(ctx, key, window, union, until)
		if made != nil || err != nil {
			return made, err
		}
	}
	l, err := d.build(ctx, key.ItemType, window, union, until)
	if err != nil {
		return nil, err
	}
	made, err := newDemanded(l, d.fresh)
	if err != nil {
		return nil, err
	}
	d.cache.put(key, made)
	return made, nil
}

// build asks ClickHouse for a list, once there is a slot.
func (d *onDemand) build(ctx context.Context, itemType string, window list.Window, union slices.Union, until time.Time) (*list.List, error) {
	if err := d.acquire(ctx); err != nil {
		d.metrics.builds.WithLabelValues(builtBusy).Inc()
		return nil, err
	}
	defer func() { <-d.slots }()
	ctx, cancel := context.WithTimeout(ctx, demandLimit)
	defer cancel()
	began := time.Now()
	lists, err := d.lists(ctx, window, until, map[string][]slices.Union{itemType: {union}})
	d.metrics.seconds.Observe(time.Since(began).Seconds())
	switch {
	case errors.Is(err, slices.ErrNotFilled):
		d.metrics.builds.WithLabelValues(builtNotFilled).Inc()
		d.unfilled.put(window.Name, &unfilled{d.now(), err}, 0) // it is so of every slice
		return nil, err
	case err == nil && len(lists) != 1:
		err = fmt.Errorf("%d lists were made of one slice", len(lists))
	}
	if err != nil {
		d.metrics.builds.WithLabelValues(builtFailed).Inc()
		return nil, d.failed(err)
	}
	d.recovered()
	l := lists[0]
	l.PublishedAt = d.now().UTC()
	result := builtOK
	if l.Total == 0 {
		result = builtEmpty
	}
	d.metrics.builds.WithLabelValues(result).Inc()
	return l, nil
}

func (d *onDemand) lists(ctx context.Context, window list.Window, until time.Time, wanted map[string][]slices.Union) ([]*list.List, error) {
	if window.Name == list.TrendingWindow {
		return d.builder.Trends(ctx, until, wanted, false, demandItems)
	}
	made, err := d.builder.Build(ctx, window, until, wanted, demandItems)
	if err != nil {
		return nil, err
	}
	return made.Lists, nil
}

// acquire waits for a slot, which must be released.
func (d *onDemand) acquire(ctx context.Context) error {
	select {
	case d.slots <- struct{}{}:
		return nil
	default:
	}
	if d.waiting.Add(1) > maxDemandWaiting {
		d.waiting.Add(-1)
		return errBusy
	}
	d.metrics.waiting.Inc()
	defer func() {
		d.waiting.Add(-1)
		d.metrics.waiting.Dec()
	}()
	ctx, cancel := context.WithTimeout(ctx, demandWait)
	defer cancel()
	select {
	case d.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return errBusy
	}
}

// failed logs the first failure after a success, and no more: each request may be one.
func (d *onDemand) failed(err error) error {
	if !errors.Is(err, errNothingFilled) && !d.failing.Swap(true) {
		d.log.Warn("lists of slices cannot be made on demand", "error", err)
	}
	return err
}

func (d *onDemand) recovered() {
	if d.failing.Swap(false) {
		d.log.Info("lists of slices are made on demand again")
	}
}
