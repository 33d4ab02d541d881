package rollups

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/wire"
)

func testNotKept(t *testing.T, e *engines) {
	b := e.builder()
	start := e.newDay()
	b.KeptSince(start)
	_, err := b.Build(t.Context(), window(t, "1h"), start.Add(time.Minute))
	require.ErrorIs(t, err, ErrNotKept)
}

// Partitions go by event time: data of 1995 is young while as_of is in 1995.
func testRetention(t *testing.T, e *engines) {
	start := e.newDay().AddDate(1, 0, 0) // later than every other test here, which may lose what it has
	old, young := start, start.Add(5*time.Hour)
	e.land(t, wire.CountsTopic, e.message(views("a", 1, old, young)...))
	e.landEvents(t, []event{{itemType: "video", id: "a", eventID: "1", at: old}, {itemType: "video", id: "a", eventID: "2", at: young}})
	keeps := []kept{{"counts_second", 4 * time.Hour}, {"landed", 4 * time.Hour}, {"event_identities", 4 * time.Hour}, {"topk_10s", 4 * time.Hour}, {"events", 4 * time.Hour}}
	for _, k := range keeps {
		hours, err := oldPartitions(t.Context(), e.conn, k.table, start.AddDate(1, 0, 0))
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(hours), 2, k.table)
		dropped := 1
		for dropped > 0 {
			dropped, err = dropOld(t.Context(), e.conn, []kept{k}, young)
			require.NoError(t, err)
		}
		hours, err = oldPartitions(t.Context(), e.conn, k.table, start.AddDate(1, 0, 0))
		require.NoError(t, err)
		require.Len(t, hours, 1, k.table)
	}
	testDropsAreFew(t, e, young)
}

// Partitions are looked at until nothing is left to drop, and then once a minute.
func testDropsAreFew(t *testing.T, e *engines, asOf time.Time) {
	d := &dropper{conn: e.conn, keeps: []kept{{"events", 4 * time.Hour}}}
	drop := func(asOf time.Time) int {
		dropped, err := d.drop(t.Context(), asOf)
		require.NoError(t, err)
		return dropped
	}
	old := event{itemType: "video", id: "a", eventID: "3", at: asOf.Add(-5 * time.Hour)}
	e.landEvents(t, []event{old})
	require.Equal(t, 1, drop(asOf))
	e.landEvents(t, []event{old})
	require.Equal(t, 1, drop(asOf), "more may have been left over")
	require.Zero(t, drop(asOf))
	e.landEvents(t, []event{old})
	require.Zero(t, drop(asOf.Add(59*time.Second)), "nothing was, a moment ago")
	require.Equal(t, 1, drop(asOf.Add(time.Minute)))
}

func testCompact(t *testing.T, e *engines) {
	start := e.newDay()
	rows := func(where string) string {
		return e.Query(t, "SELECT count() FROM topk.topk_minute WHERE bucket = '"+start.Format(time.DateTime)+"'"+where)
	}
	e.land(t, wire.CountsTopic, e.message(views("a", 1, start, start.Add(15*time.Second))...))
	done, err := compact(t.Context(), e.conn, minuteGrain, start.Add(59*time.Second))
	require.NoError(t, err)
	require.Zero(t, done, "the minute is open")
	done, err = compact(t.Context(), e.conn, minuteGrain, start.Add(60*time.Second))
	require.NoError(t, err)
	require.Equal(t, 1, done)
	require.Equal(t, "1", rows(" AND applied = 2 AND length(absorbed) = 2 AND items = [('a', 2, 0)] AND floor = 0"))
	for range manyLoose {
		done, err = compact(t.Context(), e.conn, minuteGrain, start.Add(60*time.Second))
		require.NoError(t, err)
		require.Zero(t, done, "few came late")
		e.land(t, wire.CountsTopic, e.message(views("b", 3, start.Add(time.Second))...))
	}
	done, err = compact(t.Context(), e.conn, minuteGrain, start.Add(60*time.Second))
	require.NoError(t, err)
	require.Equal(t, 1, done)
	require.Equal(t, "2", rows(""))
	require.Equal(t, "1", rows(" AND applied = 98 AND items = [('b', 96, 0), ('a', 2, 0)]"))
	l := build(t, e.builder(), "5m", "video", start.Add(2*time.Minute))
	require.Equal(t, []uint64{96, 2}, []uint64{l.Items[0].Count, l.Items[1].Count})
}

// The ends of a window are read in tens of seconds, of which the first may begin before it.
func testCompactTens(t *testing.T, e *engines) {
	start := e.newDay()
	for second := range 60 { // a summary a second, and an item in each that is new
		at := start.Add(time.Duration(second) * time.Second)
		e.land(t, wire.CountsTopic, e.message(append(views("a", 1, at), views(at.Format("new-05"), 1, at)...)...))
	}
	asOf := start.Add(55 * time.Second)
	b := e.builder()
	require.Equal(t, 55, int(build(t, b, "1m", "video", asOf).Items[0].Count))
	done, err := compact(t.Context(), e.conn, tensGrain, asOf)
	require.NoError(t, err)
	require.Equal(t, 5, done, "the last ten seconds are not over")
	from, until := start.Add(5*time.Second), start.Add(65*time.Second)
	named, err := b.combined(t.Context(), window(t, "1m"), span{from, until})
	require.NoError(t, err)
	require.Empty(t, named.minutes)
	require.Len(t, named.tens, 5, "the first of them begins before the window")
	l := build(t, b, "1m", "video", until)
	require.Equal(t, []string{"a", "new-05", "new-59"}, []string{l.Items[0].ItemID, l.Items[1].ItemID, l.Items[55].ItemID})
	require.Equal(t, []uint64{55, 1}, []uint64{l.Items[0].Count, l.Items[55].Count})
	require.Len(t, l.Items, 56)
	require.True(t, l.Certified)
	done, err = compact(t.Context(), e.conn, tensGrain, asOf)
	require.NoError(t, err)
	require.Zero(t, done, "nothing has come late")

	named, err = b.combined(t.Context(), window(t, "5m"), span{start.Add(-4*time.Minute - 5*time.Second), start.Add(55 * time.Second)})
	require.NoError(t, err)
	require.Len(t, named.tens, 5, "at the end of a long window")
	named, err = b.combined(t.Context(), window(t, "5m"), span{start.Add(25 * time.Second), start.Add(5*time.Minute + 25*time.Second)})
	require.NoError(t, err)
	require.Len(t, named.tens, 3, "and at its beginning")
	named, err = b.combined(t.Context(), window(t, "5m"), span{start.Add(-2 * time.Minute), start.Add(3 * time.Minute)})
	require.NoError(t, err)
	require.Empty(t, named.tens, "its middle is of minutes")
}
