package slices

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"topk/internal/enginetest"
	"topk/internal/list"
	"topk/migrations"
)

// lists is a PostgreSQL with the schema.
type lists struct{ conn *pgx.Conn }

func startLists(t *testing.T) *lists {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), enginetest.StartPostgres(t))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close(context.Background())) })
	for _, statement := range enginetest.Statements(t, migrations.Postgres, migrations.PostgresFolder, func(string) bool { return true }) {
		_, err := conn.Exec(context.Background(), statement)
		require.NoError(t, err)
	}
	return &lists{conn}
}

func (p *lists) do(ctx context.Context, f func(context.Context, *pgx.Conn) error) error {
	return f(ctx, p.conn)
}

func (p *lists) exec(t *testing.T, statement string, arguments ...any) {
	t.Helper()
	_, err := p.conn.Exec(context.Background(), statement, arguments...)
	require.NoError(t, err)
}

// current are the lists that are served.
func (p *lists) current(t *testing.T) map[list.Key]*list.List {
	t.Helper()
	rows, err := p.conn.Query(context.Background(), "SELECT l.body FROM current_lists JOIN lists l USING (version)")
	require.NoError(t, err)
	bodies, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	found := map[list.Key]*list.List{}
	for _, body := range bodies {
		l := &list.List{}
		require.NoError(t, json.Unmarshal([]byte(body), l))
		found[l.Key()] = l
	}
	require.Len(t, found, len(bodies))
	return found
}

func names(found map[list.Key]*list.List, window string) []string {
	var all []string
	for key := range found {
		if key.Window == window {
			all = append(all, key.Slice)
		}
	}
	slices.Sort(all)
	return all
}

func allKept(time.Time) error { return nil }

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// testMaker follows one slice from its first view until it is forgotten, and a union from when it is asked for.
func testMaker(t *testing.T, e *engine) {
	p := startLists(t)
	ctx := context.Background()
	m := NewMaker(e.conn, config(), quiet(), prometheus.NewRegistry())
	e.land(t, 1, view{"video", "a", "DE", "music", "de", noon.Add(-30 * time.Second), 3}, view{"video", "b", "FR", "music", "fr", noon.Add(-90 * time.Second), 2})
	global := &list.List{ItemType: "video", Window: "1m", Slice: list.GlobalSlice, Partial: []string{}}
	p.exec(t, "INSERT INTO lists (item_type, window_name, slice, as_of, body) VALUES ('video', '1m', 'global', now(), to_jsonb($1::json))", must(json.Marshal(global)))
	p.exec(t, "INSERT INTO current_lists SELECT item_type, window_name, slice, version FROM lists")
	require.NoError(t, m.Round(ctx, p.do, noon, allKept))

	found := p.current(t)
	base := []string{"category=music", "country=DE", "country=DE,category=music", "country=DE,language=de", "country=FR", "country=FR,category=music",
		"country=FR,language=fr", "language=de", "language=fr"}
	require.Equal(t, base, names(found, "1h"))
	require.Equal(t, base, names(found, "5m"))
	require.Equal(t, slices.Sorted(slices.Values(append(slices.Clone(base), "global"))), names(found, "1m"), "lists of all views are others' business")
	for key, l := range found {
		if key.Slice != list.GlobalSlice && key.Window != list.TrendingWindow {
			checkClaims(t, l, e.truth("video", one(key.Slice)[0], l.From, l.AsOf))
			require.Equal(t, noon, l.AsOf)
			require.True(t, l.Certified)
		}
	}
	require.Equal(t, slices.Sorted(slices.Values(append(slices.Clone(base), "global"))), names(found, list.TrendingWindow))
	require.Empty(t, found[list.Key{ItemType: "video", Window: "1m", Slice: "country=FR"}].Items, "a slice of no views in the window has a list that says so")

	// Two ask for a union in one window, one for what is no slice here, one asked long ago.
	for slice, at := range map[string]string{"country=DE|FR": "now()", "category=music,language=de": "now()", "country=IT": "now() - interval '11 minutes'"} {
		p.exec(t, "INSERT INTO asked_slices VALUES ('video', '1h', $1, "+at+")", slice)
	}
	require.NoError(t, m.Round(ctx, p.do, noon.Add(time.Minute), allKept))
	found = p.current(t)
	union := found[list.Key{ItemType: "video", Window: "1h", Slice: "country=DE|FR"}]
	require.NotNil(t, union)
	require.Equal(t, uint64(5), union.Total)
	require.Equal(t, []string{"a", "b"}, []string{union.Items[0].ItemID, union.Items[1].ItemID})
	require.NotContains(t, names(found, "5m"), "country=DE|FR")
	require.Len(t, names(found, "1h"), len(base)+1)
	asked := []string{}
	for key := range maps.Keys(found) {
		if key.Window == "1h" {
			asked = append(asked, key.Slice)
		}
	}
	require.NotContains(t, asked, "country=IT")
	var left int
	require.NoError(t, p.conn.QueryRow(ctx, "SELECT count(*) FROM asked_slices").Scan(&left))
	require.Equal(t, 2, left, "what nobody has asked for lately is removed")

	// Nobody asks any longer: it is no longer made, nor served.
	p.exec(t, "UPDATE asked_slices SET asked_at = now() - interval '11 minutes'")
	require.NoError(t, m.Round(ctx, p.do, noon.Add(2*time.Minute), allKept))
	require.Equal(t, base, names(p.current(t), "1h"))

	// What may have been dropped is not published.
	dropped := errors.New("dropped")
	require.ErrorIs(t, m.Round(ctx, p.do, noon.Add(3*time.Minute), func(since time.Time) error {
		require.Equal(t, noon.Add(3*time.Minute).Add(-Reach), since)
		return dropped
	}), dropped)
	require.Equal(t, noon.Add(2*time.Minute), p.current(t)[list.Key{ItemType: "video", Window: "1h", Slice: "country=DE"}].AsOf)

	// An hour after the last view the slices are among the busiest no longer; ten minutes later their lists, empty by then, are gone.
	last := noon.Add(58 * time.Minute)
	require.NoError(t, m.Round(ctx, p.do, last, allKept))
	require.Equal(t, base, names(p.current(t), "1h"))
	require.NoError(t, m.Round(ctx, p.do, last.Add(9*time.Minute), allKept))
	found = p.current(t)
	require.Equal(t, base, names(found, "1h"))
	require.Empty(t, found[list.Key{ItemType: "video", Window: "1h", Slice: "country=DE"}].Items)
	require.NoError(t, m.Round(ctx, p.do, last.Add(11*time.Minute), allKept))
	require.Equal(t, []string{"global"}, names(p.current(t), "1m"))
	require.NoError(t, m.Round(ctx, p.do, last.Add(17*time.Minute), allKept))
	found = p.current(t)
	require.Len(t, found, 2)
	require.Empty(t, found[list.Key{ItemType: "video", Window: list.TrendingWindow, Slice: list.GlobalSlice}].Items, "that of all views says that nothing trends")
}

// testMakerBusiest: of more slices than lists are made of, single dimensions come first, then those of most views.
func testMakerBusiest(t *testing.T, e *engine) {
	p := startLists(t)
	var views []view
	for n := range uint64(26) {
		views = append(views, view{"video", "a", string([]byte{'A', 'A' + byte(n)}), "music", "de", noon.Add(-30 * time.Second), n + 1})
	}
	e.land(t, 1, views...)
	m := NewMaker(e.conn, config(func(c *Config) { c.Lists = 12 }), quiet(), prometheus.NewRegistry())
	require.NoError(t, m.Round(context.Background(), p.do, noon, allKept))
	want := []string{"category=music", "language=de"}
	for n := range 10 {
		want = append(want, "country=A"+string(rune('A'+25-n)))
	}
	slices.Sort(want)
	require.Equal(t, want, names(p.current(t), "1h"))
}

// testMakerStops: a round that is cut off at any step leaves lists that are true, and the next one mends the rest.
func testMakerStops(t *testing.T, e *engine) {
	p := startLists(t)
	ctx := context.Background()
	m := NewMaker(e.conn, config(), quiet(), prometheus.NewRegistry())
	e.land(t, 1, view{"video", "a", "DE", "music", "de", noon.Add(-30 * time.Second), 3})
	cut := errors.New("cut")
	for stop := range 7 {
		asOf := noon.Add(time.Duration(stop) * time.Minute)
		steps := 0
		err := m.Round(ctx, func(ctx context.Context, f func(context.Context, *pgx.Conn) error) error {
			if steps++; steps > stop {
				return cut
			}
			return p.do(ctx, f)
		}, asOf, allKept)
		if stop < 5 { // what is asked for, the lists, and which are made no more; the same of what trends
			require.ErrorIs(t, err, cut, fmt.Sprint(stop))
		} else {
			require.NoError(t, err)
		}
		for key, l := range p.current(t) {
			if key.Window != list.TrendingWindow {
				checkClaims(t, l, e.truth("video", one(key.Slice)[0], l.From, l.AsOf))
			}
		}
	}
	require.Len(t, p.current(t), 5*len(list.Live)+6, "and what trends of all views")
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
