// Package charts makes day charts: the most viewed items of a calendar day in a named time zone, counted from raw events.
package charts

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
	"topk/internal/zone"
)

const (
	// askBudget bounds a look at the ledger: a month of hours is 720 rows.
	askBudget = 10 * time.Second
	// countBudget bounds the count of one day.
	countBudget = 30 * time.Minute
	// maxDays bounds the days that a round counts, so that a long backlog is planned anew now and then.
	maxDays = 100
	// idleShare is how many times as long as a count takes the next provisional or revised one waits: they take up a twentieth of one
	// thread, whatever the number of events, zones and recounts.
	idleShare = 19
	// retryAfter is how long a day that could not be counted is left alone at least: the next one may be luckier.
	retryAfter = time.Minute
)

//go:embed sql/*.sql
var files embed.FS

// settings of every question to ClickHouse. Without the first two, FINAL reads whole partitions that the filter leaves out, and
// merges equal keys of different partitions. Views are grouped by viewer, which is nearly a group an event: what exceeds spillBytes
// goes to disk. One thread, because nobody waits for a chart as for a list.
var settings = ch.Settings{
	"do_not_merge_across_partitions_select_final": 1,
	"defer_partition_pruning_after_final":         0,
	"enable_shared_storage_snapshot_in_query":     1,
	"max_bytes_before_external_group_by":          spillBytes,
	"max_threads":                                 1,
}

var questions = clickhouse.NewQuestions(files, settings)

const spillBytes = 1 << 30

// Maker brings the charts of configured zones up to date. What it has made is noted beside the charts, so that another one, or
// this one after a restart, repeats nothing.
type Maker struct {
	conn    driver.Conn
	config  Config
	log     *slog.Logger
	metrics *metrics
	rest    time.Time         // no provisional or revised chart before it
	again   map[key]time.Time // days that failed, and when they may be tried again
	share   time.Duration     // idleShare; tests do not wait
}

// New does no I/O. registry may be nil. The configuration must be valid.
func New(conn driver.Conn, config Config, log *slog.Logger, registry prometheus.Registerer) *Maker {
	return &Maker{conn: conn, config: config, log: log, metrics: newMetrics(registry), again: map[key]time.Time{}, share: idleShare}
}

// Report is what a round did.
type Report struct {
	Counted int // days
	// Needed is the time from which on raw events must stay: final charts are still to be made of them.
	Needed time.Time
	// More says that the round ended at a bound and that there is more to do at once.
	More bool
}

// Round counts what is due when every event before asOf is there, a day at a time. A day that fails keeps none of the others
// from being counted.
func (m *Maker) Round(ctx context.Context, db DB, asOf time.Time) (report Report, err error) {
	p, err := m.plan(ctx, db, asOf)
	if err != nil {
		m.metrics.failures.Inc()
		return report, err
	}
	report.Needed = p.needed
	m.metrics.due.Set(float64(len(p.jobs)))
	failed := []error{p.unknown}
	for _, j := range p.jobs {
		now := time.Now()
		if j.paced() && now.Before(m.rest) || now.Before(m.again[j.key]) {
			continue
		}
		if report.Counted == maxDays {
			report.More = true
			break
		}
		report.Counted++
		if _, err := m.make(ctx, db, j); err != nil {
			if ctx.Err() != nil {
				return report, err
			}
			m.metrics.failures.Inc()
			m.again[j.key] = time.Now().Add(max(retryAfter, idleShare*time.Since(now)))
			failed = append(failed, err)
			continue
		}
		delete(m.again, j.key)
	}
	return report, errors.Join(failed...)
}

func (m *Maker) plan(ctx context.Context, db DB, asOf time.Time) (plan, error) {
	zones := map[string]*time.Location{}
	for _, name := range m.config.Zones {
		location, err := zone.Load(name)
		if err != nil {
			return plan{}, err
		}
		zones[name] = location
	}
	l, err := readLedger(ctx, m.conn, asOf)
	if err != nil {
		return plan{}, err
	}
	since := asOf
	if !l.kept.IsZero() {
		since = l.kept
	}
	days, err := readDays(ctx, db, zone.DayOf(since.Add(-24*time.Hour), time.UTC))
	if err != nil {
		return plan{}, err
	}
	return newPlan(l, days, zones, asOf, time.Now(), m.config.Every), nil
}

// make counts a day and stores what has changed.
func (m *Maker) make(ctx context.Context, db DB, j job) (Result, error) {
	began := time.Now()
	limit := m.config.Cap
	if j.stored.final() {
		limit = j.stored.cap // what is counted of an official day does not change with a flag
	}
	counts, err := m.count(ctx, j, limit)
	took := time.Since(began)
	if j.paced() {
		m.rest = time.Now().Add(m.share * took)
	}
	var result Result
	if err == nil {
		result, err = store(ctx, db, j, limit, counts)
	}
	if err != nil {
		return result, fmt.Errorf("chart %s in %s: %w", j.day, j.zone, err)
	}
	m.metrics.made.WithLabelValues(result.kind()).Inc()
	m.metrics.seconds.Observe(took.Seconds())
	m.log.Info("charted", "day", j.day.String(), "zone", j.zone, "as_of", j.asOf, "result", result.kind(), "charts", len(result.Charts),
		"took", took.Round(time.Millisecond))
	return result, nil
}
