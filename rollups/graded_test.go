package rollups

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"topk/internal/enginetest"
	"topk/internal/grade"
	"topk/internal/wire"
	"topk/rollups/store"
)

// view brings one view of an item both ways: as a count and as an event.
func (e *engines) view(t *testing.T, id string, times ...time.Time) {
	t.Helper()
	var events []event
	for i, at := range times {
		events = append(events, event{itemType: "video", id: id, eventID: fmt.Sprint(id, at.Unix(), "-", i), at: at})
	}
	e.land(t, wire.CountsTopic, e.message(views(id, 1, times...)...))
	e.landEvents(t, events)
}

// testGraded: a worker makes the list of exactly an hour's end and ends. The list outlives pruning. Another worker takes over when
// further hours have passed, makes the list of the last one, and grades all of them; those in between say that they have no list.
// A late event has its hour graded again.
func testGraded(t *testing.T, e *engines, stop func()) {
	conn := e.connect(t)
	end := e.newDay().Add(6 * time.Hour)
	e.view(t, "a", end.Add(-time.Minute), end.Add(-time.Minute), end.Add(-2*time.Minute))
	e.view(t, "b", end.Add(-3*time.Minute))
	e.heartbeat(t, end.Add(-30*time.Second), 2, 2)
	eventually(t, "a list before the end", func() bool { l := current(t, conn, "1h"); return l != nil && l.AsOf.Equal(end.Add(-30*time.Second)) })
	e.view(t, "a", end.Add(time.Second))
	e.heartbeat(t, end.Add(5*time.Minute), 2, 2)
	eventually(t, "it goes on as usual", func() bool { return current(t, conn, "1h").AsOf.Equal(end.Add(5 * time.Minute)) })
	stop()
	ends := func() (versions []int64) {
		rows, err := conn.Query(t.Context(), "SELECT version FROM lists WHERE window_name = '1h' AND item_type = 'video' AND as_of = $1", end)
		require.NoError(t, err)
		versions, err = pgx.CollectRows(rows, pgx.RowTo[int64])
		require.NoError(t, err)
		return versions
	}
	version := ends()
	require.Len(t, version, 1, "the list of exactly the end")
	pruned := func(ungraded time.Time) {
		for removed := int64(1); removed > 0; {
			var err error
			removed, err = store.Prune(t.Context(), conn, "1h", store.Age{Before: time.Now().Add(time.Minute), Ungraded: ungraded})
			require.NoError(t, err)
		}
	}
	pruned(end)
	require.Equal(t, version, ends(), "it is not graded yet")

	for hour := range 4 {
		e.view(t, "c", end.Add(time.Duration(hour)*time.Hour+50*time.Minute))
	}
	e.heartbeat(t, end.Add(4*time.Hour+15*time.Minute), 2, 2)
	e.startWorker(t, enginetest.FreeAddress(t))
	grades := func() []grade.Grade {
		rows, err := conn.Query(t.Context(), "SELECT * FROM grades WHERE window_name = '1h' AND item_type = 'video' AND until_time >= $1 ORDER BY grade", end)
		require.NoError(t, err)
		found, err := pgx.CollectRows(rows, grade.FromRow)
		require.NoError(t, err)
		return found
	}
	eventually(t, "every hour is graded, or says why not", func() bool { return len(grades()) == 5 })
	for _, g := range grade.Show(grades()) {
		if g.Until.Equal(end) || g.Until.Equal(end.Add(4*time.Hour)) {
			require.NotNil(t, g.Measures, g.Reason)
			require.Equal(t, 1.0, g.Recall100)
			require.Zero(t, g.Overcount)
			continue
		}
		require.Contains(t, g.Reason, "no list was published with exactly this as_of")
	}
	e.view(t, "d", end.Add(-time.Minute))
	eventually(t, "the hour is graded again", func() bool { return len(grades()) == 6 })
	again := grades()[5]
	require.Equal(t, end, again.Until)
	require.Equal(t, version[0], *again.ListVersion)
	require.InDelta(t, 2./3, again.Recall100, 1e-9, "the late item is not in the list")

	pruned(end.Add(time.Second))
	require.Empty(t, ends(), "it is no longer kept")
}
