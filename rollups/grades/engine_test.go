package grades

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"topk/embedded/binary"
	"topk/internal/clickhouse"
	"topk/internal/enginetest"
	"topk/internal/grade"
	"topk/internal/list"
	"topk/migrations"
)

func TestMain(m *testing.M) { os.Exit(binary.Run(m)) }

// engines are a ClickHouse and a PostgreSQL with the schema. Each test keeps to days of its own, later ones than those before.
type engines struct {
	*enginetest.ClickHouse
	conn     driver.Conn
	postgres *pgx.Conn
	registry *prometheus.Registry
	metrics  *Metrics
	log      bytes.Buffer
	days     int
	version  uint64 // of the last recount
}

func startEngines(t *testing.T) *engines {
	t.Helper()
	e := &engines{ClickHouse: enginetest.StartClickHouse(t, ""), registry: prometheus.NewRegistry()}
	dsn := enginetest.StartPostgres(t)
	exact := regexp.MustCompile(`^\d+_(recounts.*|counts_(hourly|daily|total)|.*_versions|folded_days|total_parts|exact_.*)\.up`)
	listed := regexp.MustCompile(`_(lists|current_lists|grades)\.up`)
	e.Query(t, "CREATE DATABASE topk")
	for _, text := range enginetest.Statements(t, migrations.ClickHouse, migrations.ClickHouseFolder, exact.MatchString) {
		e.Query(t, text)
	}
	var err error
	e.conn, err = clickhouse.Open(e.DSN)
	require.NoError(t, err)
	e.postgres, err = pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	for _, text := range enginetest.Statements(t, migrations.Postgres, migrations.PostgresFolder, listed.MatchString) {
		_, err := e.postgres.Exec(t.Context(), text)
		require.NoError(t, err)
	}
	t.Cleanup(func() {
		require.NoError(t, e.postgres.Close(context.Background()))
		require.NoError(t, e.conn.Close())
	})
	e.metrics = NewMetrics(e.registry)
	return e
}

var firstDay = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

// newDay is midnight of a day that no other test uses; what those have left was graded.
func (e *engines) newDay(t *testing.T) time.Time {
	t.Helper()
	e.days += 3
	day := firstDay.AddDate(0, 0, e.days)
	e.quiet(t, day)
	e.round(t, e.grader(), day)
	return day
}

// grader is that of a worker that has just started to lead.
func (e *engines) grader() *Grader {
	windows := append(slices.Clone(list.Windows), list.Window{Name: grade.Day, Length: 24 * time.Hour})
	return New(e.conn, DefaultConfig(), windows, slog.New(slog.NewTextHandler(&e.log, nil)), e.metrics)
}

func (e *engines) do(ctx context.Context, f func(context.Context, *pgx.Conn) error) error {
	return f(ctx, e.postgres)
}

// round returns how many stretches were graded.
func (e *engines) round(t *testing.T, g *Grader, asOf time.Time) int {
	t.Helper()
	n, err := g.Round(t.Context(), e.do, asOf, made(asOf))
	require.NoError(t, err)
	return n
}

// made says that all lists were made.
func made(asOf time.Time) map[string]time.Time {
	return map[string]time.Time{"1h": asOf, grade.Day: asOf}
}

// views of an item.
type views struct {
	itemType, id string
	n            int
}

// exact enters an hour as a recount does: the counts, then the ledger.
func (e *engines) exact(t *testing.T, hour time.Time, all ...views) {
	t.Helper()
	e.version = max(e.version, uint64(time.Now().UnixMicro())) + 1
	batch, err := e.conn.PrepareBatch(t.Context(), `INSERT INTO topk.counts_hourly (item_type, item_id, hour, version, n)`)
	require.NoError(t, err)
	for _, v := range all {
		require.NoError(t, batch.Append(v.itemType, v.id, hour, e.version, uint64(v.n)))
	}
	require.NoError(t, batch.Send())
	e.Query(t, fmt.Sprintf(`INSERT INTO topk.recounts (hour, version, events, distinct_events, items, why) VALUES ('%s', %d, 1, 1, 1, 'closed')`,
		hour.Format(time.DateTime), e.version))
}

// quiet enters all other hours before until as empty, as a recount does when it closes them.
func (e *engines) quiet(t *testing.T, until time.Time) {
	t.Helper()
	e.Query(t, fmt.Sprintf(`INSERT INTO topk.recounts (hour, version, events, distinct_events, items, why)
		SELECT toDateTime('%s', 'UTC') + 3600 * number AS empty, toUnixTimestamp64Micro(now64(6)), 0, 0, 0, 'empty'
		FROM numbers(%d) WHERE empty NOT IN (SELECT hour FROM topk.recounts)`, firstDay.Format(time.DateTime), until.Sub(firstDay)/time.Hour))
}

// publish stores a list of a window that ends at asOf.
func (e *engines) publish(t *testing.T, window string, asOf time.Time, bound uint64, all ...views) (version int64) {
	t.Helper()
	l := list.List{
		ItemType: all[0].itemType, Window: window, Slice: list.GlobalSlice, From: asOf.Add(-grade.Period(window)), AsOf: asOf,
		Method: list.MethodVerified, MaxOvercount: bound, Items: []list.Item{},
	}
	for i, v := range all {
		l.Items = append(l.Items, list.Item{Position: i + 1, ItemID: v.id, Count: uint64(v.n)})
	}
	body, err := json.Marshal(l)
	require.NoError(t, err)
	err = e.postgres.QueryRow(t.Context(), `INSERT INTO lists (item_type, window_name, slice, as_of, body) VALUES ($1, $2, $3, $4, $5) RETURNING version`,
		l.ItemType, l.Window, l.Slice, l.AsOf, body).Scan(&version)
	require.NoError(t, err)
	return version
}

// grades are those of lists that end within [from, until], oldest grade first.
func (e *engines) grades(t *testing.T, from, until time.Time) []grade.Grade {
	t.Helper()
	rows, err := e.postgres.Query(t.Context(), `SELECT * FROM grades WHERE until_time BETWEEN $1 AND $2 ORDER BY grade`, from, until)
	require.NoError(t, err)
	found, err := pgx.CollectRows(rows, grade.FromRow)
	require.NoError(t, err)
	return found
}

// metric is the value of a gauge or counter; false when there is none with those labels.
func (e *engines) metric(t *testing.T, name string, labels ...string) (float64, bool) {
	t.Helper()
	families, err := e.registry.Gather()
	require.NoError(t, err)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var values []string
			for _, l := range m.GetLabel() {
				values = append(values, l.GetValue())
			}
			if f.GetName() == name && slices.Equal(values, labels) {
				return m.GetGauge().GetValue() + m.GetCounter().GetValue(), true
			}
		}
	}
	return 0, false
}
