package rollups

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"topk/internal/enginetest"
	"topk/internal/list"
	"topk/internal/wire"
	"topk/rollups/store"
)

// pointedTypes are the item types that a window is served of.
func pointedTypes(t *testing.T, conn *pgx.Conn, window string) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), `SELECT item_type FROM current_lists WHERE window_name = $1 AND slice = 'global' ORDER BY item_type`, window)
	require.NoError(t, err)
	types, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return types
}

// toldTypes are the item types that a worker's gauges name.
func toldTypes(t *testing.T, w *Worker) []string {
	t.Helper()
	families, err := w.gatherer.Gather()
	require.NoError(t, err)
	var types []string
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() == "item_type" && !slices.Contains(types, label.GetValue()) {
					types = append(types, label.GetValue())
				}
			}
		}
	}
	slices.Sort(types)
	return types
}

// An item type that is viewed no more has empty lists for hours, then no new ones and no metrics, and a day later no pointers.
func TestItemTypesAreForgotten(t *testing.T) {
	e := startEngines(t)
	conn, listening := e.connect(t), e.connect(t)
	_, err := listening.Exec(t.Context(), "LISTEN topk_lists")
	require.NoError(t, err)
	w, stop := e.startWorker(t, enginetest.FreeAddress(t))
	viewed := func(at time.Time, types ...string) {
		var rows []count
		for _, itemType := range types {
			rows = append(rows, count{itemType: itemType, id: "a", second: at, n: 1})
		}
		e.land(t, wire.CountsTopic, e.message(rows...))
		e.heartbeat(t, at.Add(10*time.Second), 1, 1)
		e.heartbeat(t, at.Add(11*time.Second), 1, 1)
		for _, window := range list.Live {
			eventually(t, window.Name+" is published", func() bool {
				l := current(t, conn, window.Name)
				return l != nil && !l.AsOf.Before(at.Add(10*time.Second))
			})
		}
	}
	start := e.newDay().Add(12 * time.Hour)
	viewed(start, "video", "hashtag")
	require.Equal(t, []string{"hashtag", "video"}, pointedTypes(t, conn, "1m"))
	require.Equal(t, []string{"hashtag", "video"}, toldTypes(t, w))

	viewed(start.Add(5*time.Hour), "video")
	eventually(t, "metrics name only what lists are made of", func() bool { return slices.Equal([]string{"video"}, toldTypes(t, w)) })
	require.Equal(t, []string{"hashtag", "video"}, pointedTypes(t, conn, "1m"), "the last list stays")

	viewed(start.Add(30*time.Hour), "video")
	for _, window := range list.Live {
		eventually(t, window.Name+" is forgotten", func() bool { return slices.Equal([]string{"video"}, pointedTypes(t, conn, window.Name)) })
	}
	awaitForgotten(t, listening, "hashtag")

	viewed(start.Add(31*time.Hour), "video", "hashtag")
	eventually(t, "it comes back", func() bool { return slices.Contains(pointedTypes(t, conn, "1m"), "hashtag") })
	stop()
	require.Empty(t, toldTypes(t, w), "a worker that does not lead makes no lists")

	t.Run("no more than there may be", func(t *testing.T) { testTooManyTypes(t, conn) })
}

// awaitForgotten waits for the notification that an item type has no list any more.
func awaitForgotten(t *testing.T, listening *pgx.Conn, itemType string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	for {
		notification, err := listening.WaitForNotification(ctx)
		require.NoError(t, err)
		var payload struct {
			ItemType string `json:"item_type"`
			Version  *int64 `json:"version"`
		}
		require.NoError(t, json.Unmarshal([]byte(notification.Payload), &payload))
		if payload.ItemType == itemType && payload.Version != nil && *payload.Version == 0 {
			return
		}
	}
}

// Types that come faster than a day forgets them push out the oldest, never one that lists are made of.
func testTooManyTypes(t *testing.T, conn *pgx.Conn) {
	start := time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
	var lists []*list.List
	var bodies [][]byte
	for i := range list.MaxItemTypes + store.ForgetBatch {
		l := &list.List{ItemType: fmt.Sprintf("t%d", i), Window: "1h", Slice: list.GlobalSlice, AsOf: start.Add(time.Duration(i) * time.Second)}
		body, err := store.Encode(l)
		require.NoError(t, err)
		lists, bodies = append(lists, l), append(bodies, body)
	}
	_, err := store.Publish(t.Context(), conn, lists, bodies)
	require.NoError(t, err)
	made := []string{"t0", "t1", "video"}
	count := len(pointedTypes(t, conn, "1h"))
	for _, look := range []int{store.ForgetBatch, count - store.ForgetBatch - keptTypes - len(made), 0} {
		forgotten, err := store.Forget(t.Context(), conn, "1h", made, start.Add(time.Hour-forgetAfter), keptTypes)
		require.NoError(t, err)
		require.EqualValues(t, look, forgotten)
	}
	left := pointedTypes(t, conn, "1h")
	require.Len(t, left, keptTypes+len(made))
	require.Subset(t, left, append(made, lists[len(lists)-1].ItemType, lists[len(lists)-keptTypes].ItemType))
	require.NotContains(t, left, lists[len(lists)-keptTypes-1].ItemType)
}
