package rollups

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sort"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"

	"topk/internal/clickhouse"
	"topk/internal/list"
	"topk/rollups/viewers"
)

const (
	// nominees of an item type are verified: what a list stores, and as many again for those that replays or the ends
	// of the window have put too high.
	nominees = 3000
	// followers of an item type are counted second by second as well: those that become candidates have a past then.
	followers = 2000
	// typesSince is how long an item type gets lists after its last view, empty ones at the end.
	typesSince = 4 * time.Hour
	// typesAgain is how often types are asked for: one that has never been seen waits so long for its first list.
	typesAgain = 3 * time.Second
	// questionBudget bounds each question that is not the verification itself.
	questionBudget = 20 * time.Second
)

// ErrNotKept says that the counts of a window have been dropped.
var ErrNotKept = errors.New("the window starts before what is kept")

// Steps of a build, as they are timed.
const (
	stepNominate   = "nominate"
	stepDuplicates = "duplicates"
	stepVerify     = "verify"
	stepEstimate   = "estimate"
	stepViewers    = "viewers"
)

// BuilderConfig bounds what one build may cost.
type BuilderConfig struct {
	VerifyTimeout time.Duration // what counting the candidates may take, before they are estimated
	DuplicateRows uint64        // events in a window up to which duplicates are counted over the whole of it
}

// Builder answers what the lists of a window are at a moment, for every item type at once. It publishes nothing. It is not
// safe for concurrent use: it remembers what it has worked out of closed minutes.
type Builder struct {
	conn       driver.Conn
	config     BuilderConfig
	log        *slog.Logger
	timing     func(window, step string, took time.Duration)
	minutes    map[time.Time]minuteMark
	seconds    *seconds
	duplicates *duplicates
	keptSince  time.Time // older counts have been dropped
	viewers    *viewers.Filter

	types      []string  // last seen
	typesAsked time.Time // when, on the wall clock
	deep       int       // builds to come that read summaries whole
}

// NewBuilder returns a builder on a connection. timing is told how long each step took, and may be nil.
func NewBuilder(conn driver.Conn, config BuilderConfig, log *slog.Logger, timing func(window, step string, took time.Duration)) *Builder {
	if timing == nil {
		timing = func(string, string, time.Duration) {}
	}
	return &Builder{conn: conn, config: config, log: log, timing: timing, minutes: map[time.Time]minuteMark{},
		seconds: newSeconds(), duplicates: newDuplicates(conn, config.DuplicateRows)}
}

// Screen has items with too few viewers left out; nil leaves none out.
func (b *Builder) Screen(f *viewers.Filter) { b.viewers = f }

// KeptSince tells the builder that older counts may have been dropped.
func (b *Builder) KeptSince(t time.Time) { b.keptSince = t }

// question is one window at one moment.
type question struct {
	window     list.Window
	from, asOf time.Time
	types      []string
	landed     landed // what had landed when the build began
	combined   names  // of combined summaries
}

// Build returns the lists of [asOf - window, asOf), one an item type seen lately, by item type.
func (b *Builder) Build(ctx context.Context, window list.Window, asOf time.Time) ([]*list.List, error) {
	q := question{window: window, from: asOf.Add(-window.Length), asOf: asOf}
	if q.from.Before(b.keptSince) {
		return nil, fmt.Errorf("build %s at %s: %w", window.Name, asOf.Format(time.RFC3339), ErrNotKept)
	}
	if window.Length > list.Live[0].Length {
		ctx = clickhouse.Patient(ctx)
	}
	var err error
	if q.types, err = b.recentTypes(ctx, asOf, asOf.Add(-typesSince)); err != nil || len(q.types) == 0 {
		return nil, err
	}
	found, err := b.answer(ctx, q, nil)
	if err != nil {
		return nil, err
	}
	return b.assemble(ctx, q, found), nil
}

// answer finds out all that the lists of a question need. widen may add items to those that are to be counted; it may be nil.
func (b *Builder) answer(ctx context.Context, q question, widen widening) (answers, error) {
	started := time.Now()
	if err := b.begin(ctx, &q); err != nil {
		return answers{}, err
	}
	started = b.took(q, stepDuplicates, started)
	found, err := b.ask(ctx, q, widen)
	if err != nil {
		return answers{}, err
	}
	started = started.Add(found.took)
	landed, err := readLanded(ctx, b.conn, q.types, span{q.from, q.asOf})
	if err != nil {
		return answers{}, err
	}
	landed.raise(found.counted.beyond)
	found.repeats, found.late = found.distinct.repeats(q, landed), landed.since(q)
	b.took(q, stepDuplicates, started)
	return found, nil
}

// widening adds items to the candidates.
type widening func(named map[string]*nomination) map[string]*nomination

// begin reads what had landed, and once more at the end of a build: views that arrive in between can only widen the bounds.
// Names of summaries are read beside.
func (b *Builder) begin(ctx context.Context, q *question) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		q.landed, err = readLanded(ctx, b.conn, q.types, span{q.from.Truncate(time.Minute), q.asOf})
		return err
	})
	group.Go(func() (err error) {
		q.combined, err = b.combined(ctx, q.window, span{q.from, q.asOf})
		return err
	})
	return group.Wait()
}

// answers are what a build has found out.
type answers struct {
	named    map[string]*nomination
	counted  counts
	distinct distincts
	took     time.Duration     // naming and counting
	repeats  map[string]uint64 // by item type: how many of the views were sent more than once
	late     map[string]uint64 // by item type: how many landed while it was counted; an item that was not named may have them all
}

// ask counts distinct events beside naming and counting the candidates, and reads new seconds of those of the last build beside
// naming: neither needs the other.
func (b *Builder) ask(ctx context.Context, q question, widen widening) (a answers, err error) {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		a.distinct, err = b.duplicates.distinct(ctx, q)
		return err
	})
	group.Go(func() (err error) {
		began := time.Now()
		reading := make(chan error, 1)
		go func() { reading <- b.readAhead(ctx, q) }()
		a.named, err = b.nominate(ctx, q)
		ahead := <-reading
		if err != nil {
			return err
		}
		if widen != nil {
			a.named = widen(a.named)
		}
		started := b.took(q, stepNominate, began)
		if a.counted, err = b.count(ctx, q, a.named, ahead); err != nil {
			return err
		}
		a.took = b.took(q, a.counted.step(), started).Sub(began)
		return nil
	})
	return a, group.Wait()
}

// count verifies the candidates, or estimates them where that takes longer than its budget. ahead says how reading ahead went.
func (b *Builder) count(ctx context.Context, q question, named map[string]*nomination, ahead error) (counted counts, err error) {
	if err = ahead; err == nil {
		counted, err = b.verify(ctx, q, named)
	}
	if err == nil || !clickhouse.TimedOut(err) {
		return counted, err
	}
	b.log.Warn("verification exceeded its budget", "window", q.window.Name, "as_of", q.asOf, "error", err)
	return b.estimate(ctx, q, named)
}

func (b *Builder) took(q question, step string, started time.Time) time.Time {
	now := time.Now()
	b.timing(q.window.Name, step, now.Sub(started))
	return now
}

// recentTypes asks for the item types that had views since, now and then. It always asks while none is known.
func (b *Builder) recentTypes(ctx context.Context, asOf, since time.Time) ([]string, error) {
	if len(b.types) > 0 && time.Since(b.typesAsked) < typesAgain {
		return b.types, nil
	}
	began := time.Now()
	types, err := b.itemTypes(ctx, asOf, since)
	if err == nil {
		b.types, b.typesAsked = types, began
	}
	return types, err
}

func (b *Builder) itemTypes(ctx context.Context, asOf, since time.Time) ([]string, error) {
	var types []string
	p := parameters{"slice": list.GlobalSlice, "since": since, "until": asOf, "types": list.MaxMadeTypes}
	err := read(ctx, b.conn, "item_types", p, questionBudget, func(r driver.Rows) error {
		var name string
		if err := r.Scan(&name); err != nil {
			return err
		}
		types = append(types, name)
		return nil
	})
	sort.Strings(types)
	return types, err
}

// counts are what is known of the candidates of a window.
type counts struct {
	method string
	counts map[string]map[string]list.Interval // item type -> item -> interval
	totals map[string]uint64                   // item type -> views of all items
	beyond landed                              // what was counted in seconds whose rows are not those that landed
}

func (c counts) step() string {
	if c.method == list.MethodEstimated {
		return stepEstimate
	}
	return stepVerify
}

// assemble orders what was counted.
func (b *Builder) assemble(ctx context.Context, q question, found answers) []*list.List {
	lists := make([]*list.List, 0, len(q.types))
	lots := make([]*viewers.Lot, len(q.types))
	for i, itemType := range q.types {
		lots[i] = &viewers.Lot{ItemType: itemType, Items: found.counted.counts[itemType], Stored: list.StoredItems}
	}
	began := time.Now()
	b.viewers.Screen(ctx, viewers.Window{Name: q.window.Name, From: q.from, AsOf: q.asOf}, lots...)
	b.took(q, stepViewers, began)
	for i, itemType := range q.types {
		l := &list.List{ItemType: itemType, Window: q.window.Name, Slice: list.GlobalSlice, From: q.from, AsOf: q.asOf,
			Method: found.counted.method, Total: found.counted.totals[itemType], Partial: []string{}, MaxOvercount: found.repeats[itemType]}
		l.Floor = found.late[itemType]
		if n := found.named[itemType]; n != nil {
			l.Floor += n.unseen
		}
		l.Fill(lots[i].Items, found.repeats[itemType], list.StoredItems)
		b.viewers.Mark(l, lots[i])
		if !l.Certified {
			b.deep = deepBuilds
		}
		lists = append(lists, l)
	}
	return lists
}
