package api

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"topk/internal/clickhouse"
	"topk/internal/enginetest"
	"topk/internal/list"
	"topk/internal/slice"
	"topk/migrations"
	sliced "topk/rollups/slices"
	"topk/udf"
)

// noon is when the views of these tests end.
var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// view is n views of an item.
type view struct {
	id, country, category, language string
	at                              time.Time
	n                               uint64
}

// minutes is a ClickHouse whose minutes of slices are filled, as the rollup worker does it.
type minutes struct {
	*enginetest.ClickHouse
	conn     driver.Conn
	filler   *sliced.Filler
	sequence uint64
	views    []view
}

func startMinutes(t testing.TB) *minutes {
	t.Helper()
	m := &minutes{ClickHouse: enginetest.StartClickHouse(t, "")}
	m.Query(t, "CREATE DATABASE topk")
	functions, err := udf.Functions()
	require.NoError(t, err)
	for _, f := range functions {
		m.Query(t, f.Create)
	}
	offline := func(name string) bool { return !strings.Contains(name, "queue") } // those would look for Kafka
	for _, statement := range enginetest.Statements(t, migrations.ClickHouse, migrations.ClickHouseFolder, offline) {
		m.Query(t, statement)
	}
	m.conn, err = clickhouse.Open(m.DSN)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.conn.Close()) })
	m.filler = sliced.NewFiller(m.conn, sliced.DefaultConfig())
	return m
}

// land brings views, and fills the minutes until a time.
func (m *minutes) land(t *testing.T, until time.Time, views ...view) {
	t.Helper()
	ctx := context.Background()
	m.sequence++
	counts, err := m.conn.PrepareBatch(ctx, `INSERT INTO topk.counts_in
		(item_type, item_id, country, category, language, second, n, ingestor, sequence, topic, partition, offset, partitions)`)
	require.NoError(t, err)
	for _, v := range views {
		require.NoError(t, counts.Append("video", v.id, v.country, v.category, v.language, v.at, v.n, "test@1", m.sequence, "topk.counts.v1",
			uint32(0), int64(m.sequence), uint32(1)))
	}
	require.NoError(t, counts.Send())
	events, err := m.conn.PrepareBatch(ctx, `INSERT INTO topk.events_in (event_id, item_type, item_id, event_time, country, topic, offset, partitions)`)
	require.NoError(t, err)
	for i, v := range views {
		for n := range v.n {
			require.NoError(t, events.Append(fmt.Sprint(m.sequence, "-", i, "-", n), "video", v.id, v.at, v.country, "topk.events.v1", int64(m.sequence), uint32(1)))
		}
	}
	require.NoError(t, events.Send())
	m.views = append(m.views, views...)
	m.fill(t, until)
}

// fill fills the minutes until a time.
func (m *minutes) fill(t testing.TB, until time.Time) {
	t.Helper()
	for filled := 1; filled > 0; { // a round ends after some time
		var err error
		filled, err = m.filler.Fill(context.Background(), until.Add(-time.Hour), until)
		require.NoError(t, err)
	}
}

var (
	someCountries  = []string{"DE", "FR", "IT", "IN", "US", "AT", ""}
	someCategories = []string{"music", "news", "a,b", "фильм", ""}
	someLanguages  = []string{"de", "en", "hi", ""}
)

// randomViews are of the hour before noon. No two rows are equal but in their number of views.
func randomViews(seed uint64, rows, items int) []view {
	r := rand.New(rand.NewPCG(seed, 4))
	sums := map[view]uint64{}
	for range rows {
		v := view{
			id: fmt.Sprintf("i%04d", int(float64(items)*r.Float64()*r.Float64())), country: someCountries[r.IntN(len(someCountries))],
			category: someCategories[r.IntN(len(someCategories))], language: someLanguages[r.IntN(len(someLanguages))],
			at: noon.Add(-time.Duration(1+r.IntN(3600)) * time.Second),
		}
		sums[v] += 1 + r.Uint64N(3)
	}
	views := make([]view, 0, len(sums))
	for v, n := range sums {
		v.n = n
		views = append(views, v)
	}
	return views
}

// truth counts the views of a slice since a time by hand, the most viewed first.
func (m *minutes) truth(t *testing.T, name string, from time.Time) (all []list.Item, total uint64) {
	t.Helper()
	s, err := slice.Parse(name)
	require.NoError(t, err)
	within := func(values []string, value string) bool { return values == nil || slices.Contains(values, value) }
	counts := map[string]uint64{}
	for _, v := range m.views {
		if !v.at.Before(from) && within(s.Country, v.country) && within(s.Category, v.category) && within(s.Language, v.language) {
			counts[v.id] += v.n
			total += v.n
		}
	}
	for id, n := range counts {
		all = append(all, list.Item{ItemID: id, Count: n})
	}
	slices.SortFunc(all, func(a, b list.Item) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.ItemID, b.ItemID))
	})
	return all, total
}

// clock is the time that an API goes by.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time        { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) pass(by time.Duration) { c.ahead.Add(int64(by)) }
func (c *clock) use(s *Server)         { s.now = c.now }
