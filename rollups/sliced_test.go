package rollups

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"topk/internal/enginetest"
	"topk/internal/list"
	"topk/internal/wire"
)

// currentSlices are the lists of slices that are served, by slice and window.
func currentSlices(t *testing.T, conn *pgx.Conn) map[[2]string]*list.List {
	t.Helper()
	rows, err := conn.Query(context.Background(), `SELECT l.body::text FROM current_lists c JOIN lists l USING (version) WHERE c.slice <> 'global'`)
	require.NoError(t, err)
	bodies, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	found := map[[2]string]*list.List{}
	for _, body := range bodies {
		l := &list.List{}
		require.NoError(t, json.Unmarshal([]byte(body), l))
		found[[2]string{l.Slice, l.Window}] = l
	}
	return found
}

// Lists of slices follow whole minutes, through the end of a worker and of ClickHouse.
func TestWorkerMakesListsOfSlices(t *testing.T) {
	e := startEngines(t)
	conn := e.connect(t)
	start := e.newDay().Add(12 * time.Hour)
	land := func(at time.Time, country string, n uint64) {
		e.land(t, wire.CountsTopic, e.message(count{"video", "v" + country, country, at, n}))
	}
	asOf := func(at time.Time, key [2]string) func() bool {
		return func() bool { l := currentSlices(t, conn)[key]; return l != nil && l.AsOf.Equal(at) }
	}
	india := [2]string{"country=IN", "5m"}
	land(start.Add(10*time.Second), "IN", 7)
	land(start.Add(70*time.Second), "DE", 5)
	_, stop := e.startWorker(t, enginetest.FreeAddress(t))
	e.heartbeat(t, start.Add(90*time.Second), 1, 1)
	eventually(t, "lists of the first minute", asOf(start.Add(time.Minute), india))
	l := currentSlices(t, conn)[india]
	require.Equal(t, uint64(7), l.Total)
	require.Equal(t, "vIN", l.Items[0].ItemID)
	require.NotContains(t, currentSlices(t, conn), [2]string{"country=DE", "5m"}, "its minute is not over")

	stop()
	land(start.Add(80*time.Second), "IN", 2)
	e.heartbeat(t, start.Add(3*time.Minute), 1, 1)
	e.Kill()
	_, stop = e.startWorker(t, enginetest.FreeAddress(t))
	e.Start(t)
	eventually(t, "lists after the restart", asOf(start.Add(3*time.Minute), india))
	found := currentSlices(t, conn)
	require.Equal(t, uint64(9), found[india].Total)
	require.Equal(t, uint64(9), found[india].Items[0].Count)
	require.Equal(t, uint64(5), found[[2]string{"country=DE", "5m"}].Total)

	// Somebody asks for unions: of all countries and the unknown one they are all views, counts included.
	land(start.Add(200*time.Second), "", 4)
	_, err := conn.Exec(t.Context(), "INSERT INTO asked_slices VALUES ('video', '1h', 'country=DE|IN'), ('video', '1h', 'country=|DE|IN')")
	require.NoError(t, err)
	e.heartbeat(t, start.Add(4*time.Minute), 1, 1)
	eventually(t, "the list of the union", asOf(start.Add(4*time.Minute), [2]string{"country=DE|IN", "1h"}))
	require.Equal(t, uint64(14), currentSlices(t, conn)[[2]string{"country=DE|IN", "1h"}].Total)
	eventually(t, "the union of all", asOf(start.Add(4*time.Minute), [2]string{"country=|DE|IN", "1h"}))
	eventually(t, "the list of all views", func() bool { return current(t, conn, "1h").AsOf.Equal(start.Add(4 * time.Minute)) })
	union, global := currentSlices(t, conn)[[2]string{"country=|DE|IN", "1h"}], current(t, conn, "1h")
	require.Equal(t, uint64(18), global.Total)
	require.Equal(t, global.Total, union.Total)
	require.Equal(t, len(global.Items), len(union.Items))
	for i, item := range global.Items {
		require.Equal(t, item.ItemID, union.Items[i].ItemID)
		require.Equal(t, item.Count, union.Items[i].Count)
	}
	stop()
}
