package rollups

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"topk/internal/enginetest"
	"topk/internal/list"
	"topk/internal/wire"
)

// viewed lands views of an item, counts and events, shared by so many viewers.
func (e *engines) viewed(t *testing.T, id string, at time.Time, views, viewers int) {
	t.Helper()
	e.land(t, wire.CountsTopic, e.message(count{"video", id, "IN", at, uint64(views)}))
	e.offset++
	e.Query(t, fmt.Sprintf(`INSERT INTO topk.events_in (event_id, item_type, item_id, event_time, country, viewer, topic, offset, partitions)
		SELECT concat('%s-', toString(number)), 'video', '%s', '%s', 'IN', concat('viewer-', toString(number %% %d)), '%s', %d, 1 FROM numbers(%d)`,
		at.Format(time.TimeOnly), id, at.UTC().Format(time.DateTime), viewers, wire.EventsTopic, e.offset, views))
}

// listed are the ids of a list.
func listed(l *list.List) (ids []string) {
	for _, item := range l.Items {
		ids = append(ids, item.ItemID)
	}
	return ids
}

// bodies of every list that is served, as stored.
func bodies(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), `SELECT l.body::text FROM current_lists c JOIN lists l USING (version) ORDER BY c.slice, c.window_name`)
	require.NoError(t, err)
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return all
}

// What two devices view a hundred thousand times is in no list, of any window or slice, through the end of a worker and of ClickHouse.
func TestWorkerLeavesOutItemsOfFewViewers(t *testing.T) {
	e := startEngines(t)
	conn := e.connect(t)
	start := e.newDay().Add(12 * time.Hour)
	e.viewed(t, "two", start.Add(10*time.Second), 100_000, 2)
	e.viewed(t, "five", start.Add(10*time.Second), 50, 5)
	e.viewed(t, "rising", start.Add(10*time.Second), 40, 4)
	reached := func(at time.Time) func() bool {
		return func() bool {
			for _, w := range list.Windows {
				if l := current(t, conn, w.Name); l == nil || !l.AsOf.Equal(at) {
					return false
				}
			}
			l := currentSlices(t, conn)[[2]string{"country=IN", "5m"}]
			return l != nil && l.AsOf.Equal(at.Truncate(time.Minute))
		}
	}

	_, stop := e.startWorker(t, enginetest.FreeAddress(t))
	at := start.Add(time.Minute)
	e.heartbeat(t, at, 1, 1)
	eventually(t, "lists of all", reached(at))
	for _, body := range bodies(t, conn) {
		require.NotContains(t, body, "viewers", "off by default")
		require.NotContains(t, body, "hidden")
	}
	require.Equal(t, []string{"two", "five", "rising"}, listed(current(t, conn, "1h")))
	require.Equal(t, "0", e.Query(t, "SELECT count() FROM topk.watched_items"))
	stop()

	five := func(c *Config) { c.Viewers.Min, c.Slices.EveryTrend = 5, time.Minute }
	check := func(at time.Time, want ...string) {
		t.Helper()
		eventually(t, "lists at "+at.String(), reached(at))
		lists := []*list.List{currentSlices(t, conn)[[2]string{"country=IN", "5m"}]}
		for _, w := range list.Windows {
			lists = append(lists, current(t, conn, w.Name))
		}
		for _, l := range lists {
			require.Equal(t, want, listed(l), "%s of %s", l.Window, l.Slice)
			require.Equal(t, 5, l.MinViewers)
			require.Equal(t, 3-len(want), l.Hidden, "%s of %s", l.Window, l.Slice)
			other := l.Total
			for i, item := range l.Items {
				require.Equal(t, i+1, item.Position)
				other -= item.Count
			}
			require.Equal(t, other, l.Other)
			require.GreaterOrEqual(t, l.Other, uint64(100_000))
		}
	}
	trending := [2]string{"country=IN", list.TrendingWindow}
	checkTrending := func(at time.Time, want ...string) {
		t.Helper()
		eventually(t, "what trends at "+at.String(), func() bool {
			l := currentSlices(t, conn)[trending]
			return l != nil && l.AsOf.Equal(at.Truncate(time.Minute))
		})
		require.ElementsMatch(t, want, listed(currentSlices(t, conn)[trending]))
	}
	_, stop = e.startWorker(t, enginetest.FreeAddress(t), five)
	at = start.Add(2*time.Minute + 5*time.Second)
	e.viewed(t, "five", start.Add(100*time.Second), 50, 5)
	e.viewed(t, "rising", start.Add(100*time.Second), 40, 4)
	e.viewed(t, "two", start.Add(100*time.Second), 100_000, 2)
	e.heartbeat(t, at, 1, 1)
	check(at, "five")
	checkTrending(at, "five")
	stop()

	// It rises while no worker is there, and the next one takes over what is known.
	e.viewed(t, "five", start.Add(150*time.Second), 60, 5)
	e.viewed(t, "rising", start.Add(150*time.Second), 50, 5)
	e.viewed(t, "two", start.Add(150*time.Second), 100_000, 2)
	e.Kill()
	e.Start(t)
	_, stop = e.startWorker(t, enginetest.FreeAddress(t), five)
	at = start.Add(3*time.Minute + 5*time.Second)
	e.heartbeat(t, at, 1, 1)
	check(at, "five", "rising")
	checkTrending(at, "five", "rising")
	stop()
}
