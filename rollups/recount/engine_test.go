package recount

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"topk/embedded/binary"
	"topk/internal/clickhouse"
	"topk/internal/enginetest"
	"topk/migrations"
	"topk/udf"
)

func TestMain(m *testing.M) { os.Exit(binary.Run(m)) }

const (
	budget = time.Minute
	// engines at work: statements are small, and one engine keeps about one core busy.
	engines = 2
)

// TestExactCounts runs every test on one of a few engines, which it empties before.
func TestExactCounts(t *testing.T) {
	free := make(chan *engine, engines)
	for range engines {
		free <- startEngine(t)
	}
	for _, test := range []struct {
		name string
		run  func(*testing.T, *engine)
	}{
		{"a recorded year", testRecordedYear}, // the longest come first
		{"clickhouse is killed at every step", testClickHouseKilled},
		{"the worker is killed at every step", testWorkerKilled},
		{"readers never see a mixture", testReadersNeverSeeAMixture},
		{"any order of arrival", testAnyOrderOfArrival},
		{"hours close in order", testHoursCloseInOrder},
		{"late events are debounced", testLateEventsAreDebounced},
		{"sealed days stand for their hours", testSealedDays},
		{"quiet rounds ask one question", testQuietRounds},
		{"a gap of years is entered at once", testGapOfYears},
		{"backfill as the readme says", testBackfillAsTheReadmeSays},
		{"history is imported hour by hour", testImportHourByHour},
		{"late events of an hour that is gone", testGoneHours},
		{"an hour always fails", testFailingHours},
		{"a day always fails", testFailingDays},
		{"nothing has fewer views than none", testNegativeSums},
		{"an old hour is corrected", testCorrection},
		{"by hand, interrupted and resumed", testByHand},
		{"commands find and repair a drift", testCommands},
		{"a recount reads its hour", testRecountReadsItsHour},
		{"live states are rebuilt from events", testLiveStatesAreRebuilt},
		{"views of the ledger say what readers say", testViewsAgree},
		{"heads are the most viewed", testHeads},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := <-free
			defer func() { free <- e }()
			e.clear(t)
			test.run(t, e)
		})
	}
}

// engine is a ClickHouse with the schema, and what was sent to it.
type engine struct {
	*enginetest.ClickHouse
	conn driver.Conn
	sent map[string]event // by identity
}

func startEngine(t testing.TB) *engine {
	t.Helper()
	e := &engine{ClickHouse: enginetest.StartClickHouse(t, ""), sent: map[string]event{}}
	e.Query(t, "CREATE DATABASE topk")
	functions, err := udf.Functions()
	require.NoError(t, err)
	for _, f := range functions {
		e.Query(t, f.Create)
	}
	offline := func(name string) bool { return !strings.Contains(name, "queue") } // those would look for Kafka
	for _, statement := range enginetest.Statements(t, migrations.ClickHouse, migrations.ClickHouseFolder, offline) {
		e.Query(t, statement)
	}
	e.conn, err = clickhouse.Open(e.DSN)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.conn.Close()) })
	return e
}

// clear empties every table.
func (e *engine) clear(t testing.TB) {
	t.Helper()
	e.sent = map[string]event{}
	for table := range strings.FieldsSeq(e.Query(t, "SELECT DISTINCT table FROM system.parts WHERE database = 'topk' AND active")) {
		e.Query(t, "TRUNCATE TABLE topk."+table)
	}
}

// config has no pauses, seals days whose hours were entered a moment ago, and drops at once what a newer version replaces.
func config() Config {
	c := DefaultConfig()
	c.Debounce, c.LookEvery, c.SealAfter, c.KeepVersions = 0, 0, 0, 0
	return c
}

func (e *engine) recounter(change ...func(*Config)) *Recounter {
	c := config()
	for _, f := range change {
		f(&c)
	}
	return New(e.conn, c, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
}

// observed is a recounter, its warnings and its metrics.
func (e *engine) observed(change ...func(*Config)) (*Recounter, *bytes.Buffer, *prometheus.Registry) {
	r, told, registry := e.recounter(change...), &bytes.Buffer{}, prometheus.NewRegistry()
	r.log = slog.New(slog.NewTextHandler(told, &slog.HandlerOptions{Level: slog.LevelWarn}))
	r.metrics = newMetrics(registry)
	return r, told, registry
}

// gauge reads a metric as it is scraped.
func gauge(t testing.TB, registry *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := registry.Gather()
	require.NoError(t, err)
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	require.Fail(t, "there is no metric", name)
	return 0
}

// rounds works until nothing more is to be done.
func rounds(t testing.TB, r *Recounter, asOf time.Time) (sum Report) {
	t.Helper()
	for {
		report, err := r.Round(context.Background(), asOf)
		require.NoError(t, err)
		sum.Hours += report.Hours
		sum.Days += report.Days
		sum.Totals += report.Totals
		sum.Dropped += report.Dropped
		if !report.More {
			return sum
		}
	}
}

// exact returns the counts of [from, until) as a list would read them.
func (e *engine) exact(t testing.TB, itemType string, from, until time.Time) []Count {
	t.Helper()
	cover, err := ReadCover(context.Background(), e.conn, from, until)
	require.NoError(t, err)
	require.Equal(t, until, cover.Until, "exact that far")
	return e.top(t, cover, itemType)
}

func (e *engine) total(t testing.TB, itemType string) []Count {
	t.Helper()
	cover, err := ReadTotalCover(context.Background(), e.conn)
	require.NoError(t, err)
	return e.top(t, cover, itemType)
}

func (e *engine) top(t testing.TB, cover *Cover, itemType string) []Count {
	t.Helper()
	counts, err := cover.Top(context.Background(), e.conn, itemType, 100_000, budget)
	require.NoError(t, err)
	if counts == nil {
		counts = []Count{}
	}
	return counts
}

// sound fails when anything that is added up differs from what it was added up from.
func (e *engine) sound(t testing.TB) Check {
	t.Helper()
	check, err := Verify(context.Background(), e.conn, budget, nil)
	require.NoError(t, err)
	require.Empty(t, check.Drifts)
	return check
}

// versions of the hours or days that count, as text by bucket.
func (e *engine) versions(t testing.TB, view, bucket string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for line := range strings.Lines(e.Query(t, "SELECT toString("+bucket+"), version FROM topk."+view+" ORDER BY 1")) {
		at, version, _ := strings.Cut(strings.TrimSpace(line), "\t")
		found[at] = version
	}
	return found
}

// differing names the buckets whose version is another.
func differing(before, after map[string]string) []string {
	var changed []string
	for at := range after {
		if before[at] != after[at] {
			changed = append(changed, at)
		}
	}
	slices.Sort(changed)
	return changed
}

var monday = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

// stream is n random events of some items in every so many hours, from monday on.
func stream(seed uint64, itemType string, n, hours, every int) []event {
	random := rand.New(rand.NewPCG(seed, 1))
	events := make([]event, n)
	for i := range events {
		hour := random.IntN((hours+every-1)/every) * every
		events[i] = event{
			itemType: itemType, id: fmt.Sprint("i", random.IntN(1+random.IntN(40))), eventID: fmt.Sprint(seed, "-", i),
			country: []string{"IN", "DE", ""}[random.IntN(3)], flagged: random.IntN(20) == 0,
			at: monday.Add(time.Duration(hour)*time.Hour + time.Duration(random.IntN(3600_000))*time.Millisecond),
		}
	}
	return events
}
