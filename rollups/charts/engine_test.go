package charts

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"topk/embedded/binary"
	"topk/internal/clickhouse"
	"topk/internal/enginetest"
	"topk/internal/list"
	"topk/internal/zone"
	"topk/migrations"
	"topk/rollups/recount"
)

func TestMain(m *testing.M) { os.Exit(binary.Run(m)) }

// TestCharts starts the engines once for all that need them.
func TestCharts(t *testing.T) {
	e := startEngines(t)
	for name, test := range map[string]func(*testing.T, *engines){
		"equal a brute-force count":             testEqualBruteForce,
		"grow, become final, and are revised":   testLifecycle,
		"are made once, and by one":             testMadeOnce,
		"are made by hand, then kept":           testByHand,
		"need all events of their day":          testNeedEvents,
		"stay when late events find none":       testLateEventsOfGoneHour,
		"of every day that is over":             testBacklog,
		"are of the busiest types":              testTypesAreBounded,
		"read the hours of their day":           testReadsItsHoursOnly,
		"rest after a count":                    testRest,
		"go on beside a day that always fails":  testFailingDay,
		"go on beside an unknown zone":          testUnknownZone,
		"keep the cap of the first final chart": testCapStays,
	} {
		t.Run(name, func(t *testing.T) {
			e.clear(t)
			test(t, e)
		})
	}
}

// engines are a ClickHouse and a PostgreSQL with the schema, and what was sent to them.
type engines struct {
	*enginetest.ClickHouse
	conn     driver.Conn
	postgres string
	pg       *pgx.Conn
	recounts *recount.Recounter
	sent     map[string]event // by identity
}

func startEngines(t testing.TB) *engines {
	t.Helper()
	e := &engines{ClickHouse: enginetest.StartClickHouse(t, ""), postgres: enginetest.StartPostgres(t)}
	e.Query(t, "CREATE DATABASE topk")
	needed := regexp.MustCompile(`^\d+_(events|recounts.*|counts_hourly|counts_daily|counts_total|.*_versions|folded_days|total_parts)\.up`)
	for _, statement := range enginetest.Statements(t, migrations.ClickHouse, migrations.ClickHouseFolder, needed.MatchString) {
		e.Query(t, statement)
	}
	var err error
	e.conn, err = clickhouse.Open(e.DSN)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.conn.Close()) })
	e.pg, err = pgx.Connect(t.Context(), e.postgres)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.pg.Close(context.Background())) })
	for _, statement := range enginetest.Statements(t, migrations.Postgres, migrations.PostgresFolder, func(string) bool { return true }) {
		e.exec(t, statement)
	}
	return e
}

func (e *engines) exec(t testing.TB, sql string, arguments ...any) {
	t.Helper()
	_, err := e.pg.Exec(t.Context(), sql, arguments...)
	require.NoError(t, err)
}

// clear forgets everything that was sent and made.
func (e *engines) clear(t testing.TB) {
	t.Helper()
	for _, table := range []string{"events", "recounts", "counts_hourly", "recounts_daily", "counts_daily", "recounts_total", "counts_total"} {
		e.Query(t, "TRUNCATE TABLE topk."+table)
	}
	e.exec(t, "TRUNCATE charts, chart_days, lists, current_lists")
	e.sent = map[string]event{}
	config := recount.DefaultConfig()
	config.Debounce, config.LookEvery = 0, 0
	e.recounts = recount.New(e.conn, config, quiet(), prometheus.NewRegistry())
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// maker has no pauses.
func (e *engines) maker(zones ...string) *Maker {
	m := New(e.conn, Config{Zones: zones, Cap: 3}, quiet(), prometheus.NewRegistry())
	m.share = 0
	return m
}

func (e *engines) db(ctx context.Context, f func(context.Context, *pgx.Conn) error) error {
	return f(ctx, e.pg)
}

// round makes what is due, and returns how many days were counted.
func (e *engines) round(t testing.TB, m *Maker, asOf time.Time) int {
	t.Helper()
	counted := 0
	for {
		report, err := m.Round(t.Context(), e.db, asOf)
		require.NoError(t, err)
		counted += report.Counted
		if !report.More {
			return counted
		}
	}
}

// recount makes hours exact up to asOf.
func (e *engines) recount(t testing.TB, asOf time.Time) {
	t.Helper()
	for more := true; more; {
		report, err := e.recounts.Round(t.Context(), asOf)
		require.NoError(t, err)
		more = report.More
	}
}

// event is one accepted event.
type event struct {
	itemType, id, eventID, viewer string
	at                            time.Time
	flagged                       bool
}

// send brings events to ClickHouse in one block. One that was sent before is replaced, as when it is flagged afterwards.
func (e *engines) send(t testing.TB, events ...event) {
	t.Helper()
	batch, err := e.conn.PrepareBatch(context.Background(), "INSERT INTO topk.events (event_id, item_type, item_id, event_time, viewer, flags, ingestor)")
	require.NoError(t, err)
	for _, v := range events {
		flags := []string{}
		if v.flagged {
			flags = append(flags, "bot")
		}
		require.NoError(t, batch.Append(v.eventID, v.itemType, v.id, v.at, v.viewer, flags, "test@1"))
		e.sent[fmt.Sprint(v.itemType, "\x00", v.id, "\x00", v.at.Truncate(time.Hour).Unix(), "\x00", v.eventID)] = v
	}
	require.NoError(t, batch.Send())
}

// truth counts by brute force: every event once whose clock showed the date before asOf, each viewer's views of an item up to a cap an
// hour.
func (e *engines) truth(itemType string, location *time.Location, day string, asOf time.Time, limit int) *list.Chart {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		panic(err)
	}
	views := map[string]map[string]int{} // by item, then by viewer and hour
	for _, v := range e.sent {
		if far := v.at.Sub(at).Abs() > 72*time.Hour; far || v.itemType != itemType || v.flagged || v.at.In(location).Format(time.DateOnly) != day || !v.at.Before(asOf) {
			continue
		}
		if views[v.id] == nil {
			views[v.id] = map[string]int{}
		}
		views[v.id][fmt.Sprint(v.viewer, "\x00", v.at.Truncate(time.Hour).Unix())]++
	}
	c := &list.Chart{Items: []list.ChartItem{}}
	counts := map[string]uint64{}
	for id, hours := range views {
		for who, n := range hours {
			if limit > 0 && !strings.HasPrefix(who, "\x00") {
				n = min(n, limit)
			}
			counts[id] += uint64(n)
		}
		c.Total += counts[id]
		c.Items = append(c.Items, list.ChartItem{ItemID: id, Count: counts[id]})
	}
	slices.SortFunc(c.Items, func(a, b list.ChartItem) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.ItemID, b.ItemID))
	})
	rank, last := 0, uint64(math.MaxUint64)
	for i := range c.Items {
		if item := &c.Items[i]; item.Count != last {
			rank, last = i+1, item.Count
		}
		c.Items[i].Position, c.Items[i].Rank = i+1, rank
	}
	return c
}

// chart is the newest revision as the API would serve it, or nil.
func (e *engines) chart(t testing.TB, itemType, zoneName, day string) *list.Chart {
	t.Helper()
	rows, err := e.pg.Query(t.Context(), "SELECT body FROM charts WHERE item_type = $1 AND zone = $2 AND day = $3::text::date ORDER BY revision DESC LIMIT 1",
		itemType, zoneName, day)
	require.NoError(t, err)
	bodies, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	require.NoError(t, err)
	if len(bodies) == 0 {
		return nil
	}
	var c list.Chart
	require.NoError(t, json.Unmarshal(bodies[0], &c))
	return &c
}

// same fails unless a chart has the counts of another.
func same(t testing.TB, want, got *list.Chart) {
	t.Helper()
	require.NotNil(t, got)
	require.Equal(t, want.Items, got.Items)
	require.Equal(t, want.Total, got.Total)
}

// revisions are those stored of a day, as text.
func (e *engines) revisions(t testing.TB, zoneName, day string) []string {
	t.Helper()
	rows, err := e.pg.Query(t.Context(), `SELECT item_type || ' ' || revision || CASE WHEN provisional THEN ' provisional' ELSE '' END
		FROM charts WHERE zone = $1 AND day = $2::text::date ORDER BY item_type, revision`, zoneName, day)
	require.NoError(t, err)
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return found
}

func parse(t testing.TB, text string) zone.Day {
	t.Helper()
	day, err := zone.ParseDay(text)
	require.NoError(t, err)
	return day
}

func load(t testing.TB, name string) *time.Location {
	t.Helper()
	location, err := zone.Load(name)
	require.NoError(t, err)
	return location
}
