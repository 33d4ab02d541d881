package viewers

import (
	"context"
	"log/slog"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"topk/internal/list"
)

// Filter leaves items out that have too few viewers. It is safe for concurrent use; nil leaves nothing out.
type Filter struct {
	conn    driver.Conn
	config  Config
	log     *slog.Logger
	metrics *metrics
	watch   *watch
}

// New does no I/O. It returns nil when the configuration leaves nothing out. registry may be nil.
func New(conn driver.Conn, config Config, log *slog.Logger, registry prometheus.Registerer) *Filter {
	if config.Min == 0 {
		return nil
	}
	return &Filter{conn: conn, config: config, log: log, metrics: newMetrics(registry), watch: newWatch(conn, config.Budget)}
}

// NewReader is a filter that reads what a worker has counted, and neither has items watched nor counts any: an item that no list of the worker
// has wanted stays. It does no I/O, and returns nil when the configuration leaves nothing out. registry may be nil.
func NewReader(conn driver.Conn, config Config, log *slog.Logger, registry prometheus.Registerer) *Filter {
	f := New(conn, config, log, registry)
	if f != nil {
		f.watch.reads = true
	}
	return f
}

// Lead forgets what was known: another worker may have led meanwhile, whose set is taken over.
func (f *Filter) Lead() {
	if f != nil {
		f.watch.forget()
	}
}

// Window is the time that lists are of.
type Window struct {
	Name       string
	From, AsOf time.Time // views of [From, AsOf) are listed
}

// Lot is what a list may be made of.
type Lot struct {
	ItemType string
	Items    map[string]list.Interval // views by item; Screen removes those that are left out
	Stored   int                      // how many the list takes
	Hidden   int                      // how many Screen has removed that would be in it
}

// Screen removes the items that surely have too few viewers from lots, so far that none of them is in a list of the first Stored. What cannot be
// found out leaves an item where it is; whoever was left out stays so while questions fail, so that a failure neither stops lists
// nor brings back what was kept off them.
func (f *Filter) Screen(ctx context.Context, w Window, lots ...*Lot) {
	if f == nil {
		return
	}
	if err := f.watch.ready(ctx); err != nil {
		f.failed(ctx, "see what is watched", err)
	}
	f.measure(ctx)
	queues := make([]*queue, len(lots))
	for i, lot := range lots {
		queues[i] = newQueue(lot, f.config.least())
	}
	b := &build{Filter: f, window: w, grain: grainOf(w.From, w.AsOf), began: time.Now(), partitions: pastPartitions(w),
		views: map[Item]uint64{}, viewers: map[Item]uint64{}}
	for pass := 0; ; pass++ {
		var asked []Item
		seen := map[Item]bool{}
		for _, q := range queues {
			for _, id := range q.next(pass >= maxPasses) {
				if item := (Item{q.lot.ItemType, id}); !seen[item] {
					seen[item], asked = true, append(asked, item)
				}
				b.views[Item{q.lot.ItemType, id}] = max(b.views[Item{q.lot.ItemType, id}], q.lot.Items[id].Upper)
			}
		}
		if len(asked) == 0 {
			break
		}
		few := b.judge(ctx, asked)
		for _, q := range queues {
			q.drop(few)
		}
	}
	for _, q := range queues {
		q.finish()
	}
}

// Mark says in a list that was made of a lot who was left out; lot is nil where there was nobody to look at.
func (f *Filter) Mark(l *list.List, lot *Lot) {
	if f == nil {
		return
	}
	l.MinViewers = f.config.Min
	if lot == nil {
		return
	}
	if l.Hidden = lot.Hidden; len(l.Items) == 0 && lot.Hidden > 0 {
		l.Reason = hiddenReason(l.ItemType, f.config.Min)
	}
}

func (f *Filter) failed(ctx context.Context, what string, err error) {
	if ctx.Err() == nil {
		f.metrics.failures.Inc()
		f.log.Warn("items are listed or left out as before, whatever viewers they have", "step", what, "error", err)
	}
}
