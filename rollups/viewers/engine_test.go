package viewers

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"topk/embedded/binary"
	"topk/internal/clickhouse"
	"topk/internal/enginetest"
	"topk/internal/list"
	"topk/migrations"
	"topk/udf"
)

func TestMain(m *testing.M) { os.Exit(binary.Run(m)) }

// engine is a ClickHouse with the schema.
type engine struct {
	*enginetest.ClickHouse
	conn driver.Conn
	day  int
}

func startEngine(t testing.TB) *engine {
	t.Helper()
	e := &engine{ClickHouse: enginetest.StartClickHouse(t, "")}
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

// start empties every table, and returns noon of a day that no other test has used.
func (e *engine) start(t testing.TB) time.Time {
	t.Helper()
	for table := range strings.FieldsSeq(e.Query(t, "SELECT DISTINCT table FROM system.parts WHERE database = 'topk' AND active")) {
		e.Query(t, "TRUNCATE TABLE topk."+table)
	}
	e.day++
	return time.Date(2026, 3, e.day, 12, 0, 0, 0, time.UTC)
}

// land brings events of an item: views in all, shared by so many viewers, within the second at a time. Equal calls are replays.
func (e *engine) land(t testing.TB, id string, at time.Time, views, viewers int) {
	t.Helper()
	e.Query(t, fmt.Sprintf(`INSERT INTO topk.events_in (event_id, item_type, item_id, event_time, viewer, topic, offset, partitions)
		SELECT concat(%s, '-', toString(number)), 'video', %s, %s, concat('viewer-', toString(number %% %d)), 'topk.events.v1', 1, 1 FROM numbers(%d)`,
		quote(id+at.String()), quote(id), quote(at.Format(time.DateTime)), viewers, views))
}

// crowds lands a hundred views of an item each of so many viewers, named for them.
func (e *engine) crowds(t testing.TB, at time.Time, viewers string) {
	t.Helper()
	e.Query(t, fmt.Sprintf(`INSERT INTO topk.events_in (event_id, item_type, item_id, event_time, viewer)
		SELECT concat(toString(n), '-', toString(v)), 'video', leftPad(toString(n), 3, '0'), %s, concat('viewer-', toString(v %% n))
		FROM (SELECT arrayJoin(%s) AS n, arrayJoin(range(100)) AS v)`, quote(at.Format(time.DateTime)), viewers))
}

func quote(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'" }

// filter asks for ten viewers unless changed.
func (e *engine) filter(change ...func(*Config)) *Filter {
	config := DefaultConfig()
	config.Min, config.Budget = 10, 30*time.Second
	for _, f := range change {
		f(&config)
	}
	return New(e.conn, config, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
}

// window ends at a time.
func window(t testing.TB, name string, asOf time.Time) Window {
	t.Helper()
	w, err := list.ParseWindow(name)
	require.NoError(t, err)
	return Window{Name: name, From: w.From(asOf), AsOf: asOf}
}

// screen returns which of the items would be listed, in order, and how many were left out.
func screen(f *Filter, w Window, stored int, views map[string]uint64) (listed []string, hidden int) {
	lot := &Lot{ItemType: "video", Items: map[string]list.Interval{}, Stored: stored}
	for id, n := range views {
		lot.Items[id] = list.Interval{Lower: n, Upper: n}
	}
	f.Screen(context.Background(), w, lot)
	l := &list.List{ItemType: "video"}
	l.Fill(lot.Items, 0, stored)
	for _, item := range l.Items {
		listed = append(listed, item.ItemID)
	}
	return listed, lot.Hidden
}

// value of a gauge or counter.
func value(t testing.TB, metric prometheus.Collector) float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(metric)
	families, err := registry.Gather()
	require.NoError(t, err)
	require.Len(t, families, 1)
	m := families[0].GetMetric()[0]
	return m.GetGauge().GetValue() + m.GetCounter().GetValue()
}
