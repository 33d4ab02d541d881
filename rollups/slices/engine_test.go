package slices

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"topk/embedded/binary"
	"topk/internal/clickhouse"
	"topk/internal/enginetest"
	"topk/internal/list"
	"topk/migrations"
	"topk/udf"
)

func TestMain(m *testing.M) { os.Exit(binary.Run(m)) }

// engine is a ClickHouse with the schema, and what has landed in it.
type engine struct {
	*enginetest.ClickHouse
	conn     driver.Conn
	sequence uint64
	views    []view // each once
}

// view is a combined row: n views of an item.
type view struct {
	itemType, id, country, category, language string
	at                                        time.Time
	n                                         uint64
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

// clear empties every table.
func (e *engine) clear(t testing.TB) {
	t.Helper()
	e.views = nil
	for table := range strings.FieldsSeq(e.Query(t, "SELECT DISTINCT table FROM system.parts WHERE database = 'topk' AND active")) {
		e.Query(t, "TRUNCATE TABLE topk."+table)
	}
}

// land brings views as a message of their own, times times.
func (e *engine) land(t testing.TB, times int, views ...view) {
	t.Helper()
	views = combine(views)
	e.sequence++
	for range times {
		batch, err := e.conn.PrepareBatch(context.Background(), `INSERT INTO topk.counts_in
			(item_type, item_id, country, category, language, second, n, ingestor, sequence, topic, partition, offset, partitions)`)
		require.NoError(t, err)
		for _, v := range views {
			require.NoError(t, batch.Append(v.itemType, v.id, v.country, v.category, v.language, v.at, v.n, "test@1", e.sequence, "topk.counts.v1",
				uint32(0), int64(e.sequence), uint32(1)))
		}
		require.NoError(t, batch.Send())
	}
	e.views = append(e.views, views...)
}

// combine adds up equal views, as an ingestor does: rows of one message differ.
func combine(views []view) []view {
	sums := map[view]uint64{}
	for _, v := range views {
		n := v.n
		v.n = 0
		sums[v] += n
	}
	all := make([]view, 0, len(sums))
	for v, n := range sums {
		v.n = n
		all = append(all, v)
	}
	return all
}

// landEvents brings the events of views: repeated says how many are there beside distinct ones.
func (e *engine) landEvents(t testing.TB, views ...view) {
	t.Helper()
	batch, err := e.conn.PrepareBatch(context.Background(), `INSERT INTO topk.events_in (event_id, item_type, item_id, event_time, country, category, language, topic, offset, partitions)`)
	require.NoError(t, err)
	e.sequence++
	for i, v := range views {
		for n := range v.n {
			require.NoError(t, batch.Append(fmt.Sprint(e.sequence, "-", i, "-", n), v.itemType, v.id, v.at, v.country, v.category, v.language,
				"topk.events.v1", int64(e.sequence), uint32(1)))
		}
	}
	require.NoError(t, batch.Send())
}

// in says whether a view is in a slice, by its name.
func (v view) in(name string) bool {
	escape := strings.NewReplacer("%", "%25", ",", "%2C", "|", "%7C")
	for part := range strings.SplitSeq(name, ",") {
		dimension, value, _ := strings.Cut(part, "=")
		if map[string]string{"country": v.country, "category": escape.Replace(v.category), "language": v.language}[dimension] != value {
			return false
		}
	}
	return true
}

// truth counts the views of a union in [from, until) by hand.
func (e *engine) truth(itemType string, u Union, from, until time.Time) map[string]uint64 {
	counted := map[string]uint64{}
	for _, v := range e.views {
		if v.itemType == itemType && !v.at.Before(from) && v.at.Before(until) && slices.ContainsFunc(u.Members, v.in) {
			counted[v.id] += v.n
		}
	}
	return counted
}

// checkClaims fails when a list says anything that is not so.
func checkClaims(t testing.TB, l *list.List, truth map[string]uint64) {
	t.Helper()
	type item struct {
		id string
		n  uint64
	}
	var all []item
	total := uint64(0)
	for id, n := range truth {
		all, total = append(all, item{id, n}), total+n
	}
	slices.SortFunc(all, func(a, b item) int { return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.id, b.id)) })
	listed := map[string]bool{}
	for i, it := range l.Items {
		n := truth[it.ItemID]
		require.LessOrEqual(t, it.Lower, n, "%s of %s %s", it.ItemID, l.Slice, l.Window)
		require.GreaterOrEqual(t, it.Upper, n, "%s of %s %s", it.ItemID, l.Slice, l.Window)
		require.LessOrEqual(t, it.Count, n+l.MaxOvercount, "%s of %s %s", it.ItemID, l.Slice, l.Window)
		listed[it.ItemID] = true
		if l.Certified && l.Method != list.MethodEstimated && l.MaxOvercount == 0 && i < len(all) {
			require.Equal(t, all[i], item{it.ItemID, it.Count}, "position %d of %s %s", i+1, l.Slice, l.Window)
		}
	}
	for _, it := range all {
		if !listed[it.id] && len(l.Items) > 0 {
			require.LessOrEqual(t, it.n, max(l.Floor, l.Items[len(l.Items)-1].Count), "%s is not in %s %s", it.id, l.Slice, l.Window)
		} else if !listed[it.id] {
			require.LessOrEqual(t, it.n, l.Floor, "%s is not in %s %s", it.id, l.Slice, l.Window)
		}
	}
	if l.Method != list.MethodEstimated && l.MaxOvercount == 0 && len(all) > 0 && l.Items == nil {
		require.NotEmpty(t, l.Items, "%s %s", l.Slice, l.Window)
	}
}

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

var (
	countries  = []string{"DE", "FR", "IT", "IN", "US", ""}
	categories = []string{"music", "news", "a,b", "50%|%2C", "фильм", ""}
	languages  = []string{"de", "en", "hi", ""}
)

// random is a view of the hour before noon.
func random(r *rand.Rand, items int) view {
	return view{
		itemType: "video", id: fmt.Sprint("i", int(float64(items)*r.Float64()*r.Float64()*r.Float64())), n: 1 + r.Uint64N(3),
		country: countries[r.IntN(len(countries))], category: categories[r.IntN(len(categories))], language: languages[r.IntN(len(languages))],
		at: noon.Add(-time.Duration(1+r.IntN(3600)) * time.Second),
	}
}

// one is a slice by itself.
func one(names ...string) []Union {
	unions := make([]Union, len(names))
	for i, name := range names {
		unions[i] = Union{name, []string{name}}
	}
	return unions
}

func window(t testing.TB, name string) list.Window {
	t.Helper()
	w, err := list.ParseWindow(name)
	require.NoError(t, err)
	return w
}
