// Package grades compares published lists with the exact counts of the same time, once there are any.
package grades

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/clickhouse"
	"topk/internal/grade"
	"topk/internal/list"
	"topk/rollups/recount"
)

const (
	askBudget   = 10 * time.Second // a look at the ledger: a year of hours is some 10,000 rows
	countBudget = 5 * time.Minute  // adding up a day of 24 x 2 million items, should its sum not be made yet
	// lookback is how long ago, on the wall clock, exact counts may have been entered that the first look finds. A worker that leads
	// recounts and grades, so only what it did at its end can be missing, or was done by hand meanwhile.
	lookback = 48 * time.Hour
	// overlap of two looks: an entry in the ledger is visible a moment after the time that it carries.
	overlap = time.Minute
	// maxFailures end a round: an engine that is away fails all of it.
	maxFailures = 3
)

//go:embed sql/*.sql
var files embed.FS

var questions = clickhouse.NewQuestions(files, ch.Settings{"max_threads": 1})

// Reasons why nothing was measured.
const (
	reasonNone    = "no list was published with exactly this as_of"
	reasonNotKept = "no list with exactly this as_of is kept any more"
	reasonOther   = "the list with this as_of counts from another time on"
	reasonUnread  = "the list cannot be read"
)

// Grader grades each list once its time is exact, and again whenever that changes. It keeps nothing that matters in memory: what is
// to be graded shows in the ledger and in table grades. It is not safe for concurrent use.
type Grader struct {
	conn    driver.Conn
	config  Config
	windows []list.Window
	log     *slog.Logger
	metrics *Metrics
	entered map[string]time.Time // window -> exact counts entered before have been looked at, by the clock of ClickHouse
}

// New returns a grader of those windows that are graded at all (grade.Period). It does no I/O.
func New(conn driver.Conn, config Config, windows []list.Window, log *slog.Logger, metrics *Metrics) *Grader {
	g := &Grader{conn: conn, config: config, log: log, metrics: metrics, entered: map[string]time.Time{}}
	for _, w := range windows {
		if grade.Period(w.Name) > 0 {
			g.windows = append(g.windows, w)
		}
	}
	return g
}

// Forget drops what is remembered and told: another worker leads.
func (g *Grader) Forget() {
	clear(g.entered)
	g.metrics.forgetAll()
}

// Round grades what became exact since the last round, newest first. do runs a function with a connection to PostgreSQL, asOf is
// the watermark, and made says of each window up to when its lists were made: before that, nobody knows whether there will be one.
func (g *Grader) Round(ctx context.Context, do Do, asOf time.Time, made map[string]time.Time) (graded int, err error) {
	var failures []error
	for _, w := range g.windows {
		n, err := g.round(ctx, store{do}, w, asOf, made[w.Name])
		graded += n
		if err != nil {
			failures = append(failures, fmt.Errorf("grade lists of %s: %w", w.Name, err))
		}
	}
	return graded, errors.Join(failures...)
}

func (g *Grader) round(ctx context.Context, s store, w list.Window, asOf, made time.Time) (graded int, err error) {
	since, looked := g.entered[w.Name]
	if !looked {
		newest, err := s.newest(ctx, w.Name)
		if err != nil {
			return 0, err
		}
		g.metrics.show(newest)
	}
	due, err := g.due(ctx, grade.Period(w.Name), since)
	if err != nil {
		return 0, err
	}
	todo, err := s.ungraded(ctx, w.Name, due)
	if err != nil {
		return 0, err
	}
	// Grades that old are removed below: they would be missing again in the next round.
	oldest := asOf.Add(-g.config.KeepGrades)
	todo = slices.DeleteFunc(todo, func(d stretch) bool { return d.until.Before(oldest) })
	var failures []error
	left := time.Time{} // the earliest entry that must be looked at again
	for _, d := range todo {
		n, err := g.grade(ctx, s, w, d, asOf, made)
		if err != nil && !errors.Is(err, errLater) {
			failures = append(failures, fmt.Errorf("of %s: %w", d.until.Format(time.RFC3339), err))
		}
		if err != nil && (left.IsZero() || d.entered.Before(left)) {
			left = d.entered
		}
		if n > 0 {
			graded++
		}
		if len(failures) == maxFailures || ctx.Err() != nil {
			return graded, errors.Join(failures...)
		}
	}
	g.entered[w.Name] = next(since, due, left)
	if graded > 0 {
		failures = append(failures, s.prune(ctx, w.Name, oldest))
	}
	return graded, errors.Join(failures...)
}

// next is from which entry on to look the next time.
func next(since time.Time, due []stretch, left time.Time) time.Time {
	for _, d := range due {
		if d.entered.After(since) {
			since = d.entered
		}
	}
	if !left.IsZero() && left.Before(since) {
		return left
	}
	return since
}

// stretch is closed time that has exact counts.
type stretch struct {
	from, until time.Time
	version     int64 // of the exact counts
	entered     time.Time
}

// due asks the ledger. The first time, since is zero.
func (g *Grader) due(ctx context.Context, period time.Duration, since time.Time) (due []stretch, err error) {
	from := time.Unix(0, 0)
	if !since.IsZero() {
		from = since.Add(-overlap)
	}
	p := clickhouse.Parameters{"hours": int(period / time.Hour), "since": from, "lookback": int(lookback / time.Second)}
	err = questions.Read(ctx, g.conn, "due", p, askBudget, func(rows driver.Rows) error {
		var d stretch
		err := rows.Scan(&d.from, &d.version, &d.entered)
		d.from = d.from.UTC()
		d.until = d.from.Add(period)
		due = append(due, d)
		return err
	})
	return due, err
}

// errLater says that a stretch cannot be graded yet: hours before it are missing, or its lists may be on their way.
var errLater = errors.New("not yet")

// grade grades the lists of one stretch, all or none. It returns how many.
func (g *Grader) grade(ctx context.Context, s store, w list.Window, d stretch, asOf, made time.Time) (int, error) {
	if d.until.After(made) {
		return 0, errLater
	}
	cover, err := recount.ReadCover(ctx, g.conn, d.from, d.until)
	switch {
	case errors.Is(err, recount.ErrSealed):
		return 0, nil // the day stands for this hour: what was entered is read by nobody
	case err != nil:
		return 0, err
	case !cover.Until.Equal(d.until):
		return 0, errLater
	}
	totals, err := cover.Totals(ctx, g.conn, list.MaxMadeTypes, countBudget)
	if err != nil {
		return 0, err
	}
	lists, err := s.lists(ctx, w.Name, d.until)
	if err != nil {
		return 0, err
	}
	var graded []grade.Grade
	for _, itemType := range union(totals, lists) {
		one := grade.Grade{ItemType: itemType, Window: w.Name, From: d.from, Until: d.until, ExactVersion: d.version}
		if err := g.measure(ctx, cover, lists[itemType], &one); err != nil {
			return 0, err
		}
		if one.Reason == reasonNone && d.until.Before(asOf.Add(-g.config.KeepLists)) {
			one.Reason = reasonNotKept
		}
		graded = append(graded, one)
	}
	if err := s.enter(ctx, graded); err != nil {
		return 0, err
	}
	g.tell(graded)
	return len(graded), nil
}

// measure compares a list with the cover, or says why it cannot.
func (g *Grader) measure(ctx context.Context, cover *recount.Cover, published *published, into *grade.Grade) error {
	switch {
	case published == nil:
		into.Reason = reasonNone
		return nil
	case published.list == nil:
		into.ListVersion, into.Reason = &published.version, reasonUnread
		return nil
	case !published.list.From.Equal(into.From):
		into.ListVersion, into.Reason = &published.version, reasonOther
		return nil
	}
	l := published.list
	into.ListVersion = &published.version
	t := truth{counts: map[string]uint64{}}
	var err error
	if t.levels, err = cover.Levels(ctx, g.conn, into.ItemType, countBudget); err != nil {
		return err
	}
	ids := make([]string, len(l.Items))
	for i, item := range l.Items {
		ids[i] = item.ItemID
	}
	counts, err := cover.Counts(ctx, g.conn, into.ItemType, ids, countBudget)
	if err != nil {
		return err
	}
	for _, count := range counts {
		t.counts[count.ItemID] = count.Views
	}
	into.Measures = measure(l, t)
	return nil
}

// tell logs what is beyond its limit, and shows it as metrics.
func (g *Grader) tell(graded []grade.Grade) {
	g.metrics.show(graded)
	g.metrics.count(graded)
	for i := range graded {
		one := &graded[i]
		if one.Measures == nil {
			g.log.Info("a list was not graded", "item_type", one.ItemType, "window", one.Window, "hour", one.From, "reason", one.Reason)
		}
		for _, alert := range one.Alerts() {
			g.log.Warn("a list was beyond its limit", "item_type", one.ItemType, "window", one.Window, "hour", one.From,
				"what", alert.What, "measured", alert.Measured, "limit", alert.Limit)
		}
	}
}
