// Package recount makes closed hours, days and all time exact: it counts raw events once, and keeps a ledger of which counts
// are valid.
package recount

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"topk/internal/clickhouse"
)

const (
	day = 24 * time.Hour
	// askBudget bounds a look at ledgers and partitions: a year of hours is some 10,000 rows.
	askBudget = 10 * time.Second
	// maxBatches bounds the statements that count hours in a round, and those that add up days, so that dropping old versions is
	// not kept waiting by a long absence. Of large hours and days, some seconds each, there is one in a batch.
	maxBatches = 24
	// maxFailures bounds the statements of a round that fail to count hours, and those that fail to add up days: each may take the whole
	// budget before it does.
	maxFailures = 3
	// maxBatchHours and maxBatchDays bound what a statement names and the partitions that it writes.
	maxBatchHours = 240
	maxBatchDays  = 31
	// maxFold bounds the days that a new total takes up: they are parameters of a statement, some 60 bytes each.
	maxFold = 1000
	// maxDrops bounds the partitions that a round drops.
	maxDrops = 48
	// largeRows in a partition make it worth merging into one part.
	largeRows = 100_000
	// maxMerges bounds the partitions that a round merges, some two seconds each when an hour is large.
	maxMerges = 8
)

//go:embed sql/*.sql
var files embed.FS

var questions = clickhouse.NewQuestions(files, settings)

// settings of every question. Without the first two, FINAL reads whole partitions that the filter leaves out, and merges equal
// keys of different partitions. The third makes all parts of a question see the same ledger. A hash table of more than
// spillBytes goes to disk, so memory does not follow the size of the hour.
var settings = ch.Settings{
	"do_not_merge_across_partitions_select_final": 1,
	"defer_partition_pruning_after_final":         0,
	"enable_shared_storage_snapshot_in_query":     1,
	"max_bytes_before_external_group_by":          spillBytes,
	"max_insert_threads":                          writeThreads,
}

const (
	spillBytes = 2 << 30
	// writeThreads sort and compress what one thread counts.
	writeThreads = 2
)

// Recounter brings counts_hourly, counts_daily and counts_total up to date. It keeps nothing that matters in memory: what is
// due shows in the ledgers and partitions, so a crash at any step is made good by the next round. Several may work at once:
// each writes versions of its own, and the greatest one in the ledger counts.
type Recounter struct {
	conn    driver.Conn
	config  Config
	log     *slog.Logger
	metrics *metrics
	changed map[time.Time]change // hours that are due, and since when
	ill     map[time.Time]int    // days that are due, and how often adding them up has failed
	closed  time.Time            // hours before it, and all that follows from them, were up to date
	looked  time.Time            // when that was, on the wall clock
	gone    map[time.Time]bool   // hours that were told to be gone
	sealed  []sealedDay          // days that were told to be entered in vain
	stage   func(string) error   // called before each step; tests die there
}

// change is an hour's greatest block of events, when that was first seen, when the hour was first seen due, and how often its recount
// has failed.
type change struct {
	block      int64
	since, due time.Time
	failed     int
}

// New does no I/O. registry may be nil.
func New(conn driver.Conn, config Config, log *slog.Logger, registry prometheus.Registerer) *Recounter {
	return &Recounter{conn: conn, config: config, log: log, metrics: newMetrics(registry), changed: map[time.Time]change{},
		ill: map[time.Time]int{}, gone: map[time.Time]bool{}, stage: func(string) error { return nil }}
}

// Report is what a round did.
type Report struct {
	Hours, Days, Totals, Dropped int
	// Uncounted is the earliest closed hour with events that was never counted, and Due the earliest one of which not all have
	// been: it is uncounted, or waits until it is quiet. Zero when there is none.
	Uncounted, Due time.Time
	// Known says that Uncounted and Due were found out, and that every other hour that has closed is in the ledger: what failed in the
	// round, if anything, are hours that they speak of, or days and the total, which are made of hours that are kept.
	Known bool
	// More says that the round ended at a bound and that there is more to do at once.
	More bool
}

// Round does what is due when every event before asOf is there: hours that closed or changed, the oldest first, then days, then
// the total, then what nobody reads any more. An hour that cannot be counted holds up none of the others, nor does a day that cannot be
// added up; they are tried again in the next round. The report holds also when there is an error.
func (r *Recounter) Round(ctx context.Context, asOf time.Time) (report Report, err error) {
	defer func() {
		if err != nil && ctx.Err() == nil {
			r.metrics.failures.Inc()
		}
	}()
	closed := asOf.Add(-r.config.Settle).Truncate(time.Hour)
	due, err := readDue(ctx, r.conn, closed)
	if err != nil {
		return report, err
	}
	pending, failed := r.hours(ctx, due, &report)
	if ctx.Err() != nil {
		return report, failed
	}
	if report.Hours == 0 && closed.Equal(r.closed) && time.Since(r.looked) < r.config.LookEvery {
		report.Known = true
		return report, failed
	}
	if err := r.settle(ctx, closed, pending, &report); err != nil {
		return report, errors.Join(failed, err)
	}
	if !report.More {
		r.closed, r.looked = closed, time.Now()
	}
	return report, failed
}

// settle brings all else up to date with the hours that were recounted, by whomever, and tidies up. pending are those before
// closed that were not, though they have events.
func (r *Recounter) settle(ctx context.Context, closed time.Time, pending []time.Time, report *Report) error {
	l, err := readLedger(ctx, r.conn)
	if err == nil && l.gaps(closed, pending) {
		err = r.run(ctx, "enter_empty_hours", clickhouse.Parameters{"closed": closed}, askBudget)
		if err == nil {
			l, err = readLedger(ctx, r.conn)
		}
	}
	if err != nil {
		return err
	}
	report.Known = true
	l, failed := r.sums(ctx, l, closed, report)
	if l == nil || ctx.Err() != nil {
		return failed
	}
	r.metrics.exactUntil.Set(float64(l.exactUntil().Unix()))
	return errors.Join(failed, r.tidy(ctx, l, closed, report))
}

// run executes one step of a recount. A test may end the recounter before any.
func (r *Recounter) run(ctx context.Context, name string, p clickhouse.Parameters, budget time.Duration) error {
	if err := r.stage(name); err != nil {
		return err
	}
	return questions.Execute(ctx, r.conn, name, p, budget)
}

func describe(what string, at time.Time, err error) error {
	return fmt.Errorf("%s %s: %w", what, at.UTC().Format(time.RFC3339), err)
}
