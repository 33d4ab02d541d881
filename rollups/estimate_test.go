package rollups

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/list"
	"topk/internal/wire"
)

// estimated builds lists by estimate alone, and holds them against the truth.
func estimated(t *testing.T, e *engines, a arrival, name string, asOf time.Time) *list.List {
	t.Helper()
	l := build(t, e.builder(func(c *BuilderConfig) { c.VerifyTimeout = time.Nanosecond }), name, "video", asOf)
	require.Equal(t, list.MethodEstimated, l.Method)
	requireClaims(t, l, a.truth(asOf.Add(-l.AsOf.Sub(l.From)), asOf))
	return l
}

// Whole, half-filled, unfilled and changed minutes, and an hour, in one window: none is counted short, and each is read from
// where it is whole.
func TestEstimateNeverUndercountsWhateverIsFilled(t *testing.T) {
	e := startEngines(t)
	start := e.newDay().Add(time.Hour)
	s := stream{seed: 21, skew: 0.9, items: 2_000, events: 20_000, blocks: 7, length: 3600, duplicates: 0.01, replays: 2}
	a := s.make(e, "video", start)
	a.arrive(t, e, s, 5)
	asOf := start.Add(time.Hour)
	q := question{window: window(t, "1h"), types: []string{"video"}, from: start, asOf: asOf}
	from := func() sources {
		found, err := e.builder().sources(t.Context(), q)
		require.NoError(t, err)
		return found
	}
	require.Len(t, from().open, 60)
	nothing := show(estimated(t, e, a, "1h", asOf))

	for minute := range 10 { // half filled: from no row to all rows, each time without a seal
		e.fillRows(t, start.Add(time.Duration(minute)*time.Minute), minute%(sketchRows+1))
	}
	require.Len(t, from().open, 60)
	require.Equal(t, nothing, show(estimated(t, e, a, "1h", asOf)))

	r := newRoller(e.conn)
	require.Equal(t, 30, rollAll(t, r, start.Add(30*time.Minute+minuteStep.settle)))
	require.Equal(t, sources{minutes: minutes(start, 0, 30), open: minutes(start, 30, 60)}, from())
	estimated(t, e, a, "1h", asOf)
	estimated(t, e, a, "5m", start.Add(32*time.Minute+7*time.Second))

	late := e.message(views("late", 9_000, start.Add(10*time.Minute))...)
	e.land(t, wire.CountsTopic, late)
	for n := range 9_000 {
		a.events = append(a.events, event{itemType: "video", id: "late", eventID: fmt.Sprint("late", n), at: start.Add(10 * time.Minute)})
	}
	e.landEvents(t, a.events[len(a.events)-9_000:])
	require.Len(t, from().open, 31, "the minute has changed since it was filled")
	require.Equal(t, "late", estimated(t, e, a, "1h", asOf).Items[0].ItemID)

	require.Equal(t, 31+1, rollAll(t, newRoller(e.conn), asOf.Add(hourStep.settle)))
	require.Equal(t, sources{hours: []time.Time{start}}, from())
	require.Equal(t, "late", estimated(t, e, a, "1h", asOf).Items[0].ItemID)
	q.from, q.asOf = start.Add(time.Minute), asOf.Add(time.Minute)
	require.Equal(t, sources{minutes: minutes(start, 1, 60), open: minutes(start, 60, 61)}, from(), "the hour is not wholly inside")

	e.land(t, wire.CountsTopic, late) // a replay
	q.from, q.asOf = start, asOf
	require.Equal(t, sources{minutes: append(minutes(start, 0, 10), minutes(start, 11, 60)...), open: minutes(start, 10, 11)}, from())
	require.Equal(t, "late", estimated(t, e, a, "1h", asOf).Items[0].ItemID)
}

func minutes(start time.Time, first, end int) []time.Time {
	var all []time.Time
	for n := first; n < end; n++ {
		all = append(all, start.Add(time.Duration(n)*time.Minute))
	}
	return all
}

// The bound of the sketch itself: the estimate of every item of a filled minute is at least the truth, and few exceed it by
// more than (e / width) x N.
func TestSketchKeepsItsBound(t *testing.T) {
	e := startEngines(t)
	start := e.newDay()
	const items, depthMisses = 20_000, 0.01
	var rows []count
	for n := range items {
		rows = append(rows, views(fmt.Sprintf("v_%d", n), uint64(1+n%97), start.Add(time.Duration(n%60)*time.Second))...)
	}
	for at := 0; at < items; at += items / 4 {
		e.land(t, wire.CountsTopic, e.message(rows[at:at+items/4]...))
	}
	require.Equal(t, 1, rollAll(t, newRoller(e.conn), start.Add(2*time.Minute)))
	b, over, total := e.builder(), 0, uint64(0)
	for _, r := range rows {
		total += r.n
	}
	found := tally{}
	for at := 0; at < items; at += 1_000 {
		var types, ids []string
		for _, r := range rows[at : at+1_000] {
			types, ids = append(types, r.itemType), append(ids, r.id)
		}
		require.NoError(t, b.sketch(t.Context(), sources{minutes: []time.Time{start}}, types, ids, found))
	}
	bound := uint64(2.718281828 / 271_829 * float64(total))
	for _, r := range rows {
		require.GreaterOrEqual(t, found["video"][r.id], r.n, r.id)
		if found["video"][r.id] > r.n+bound {
			over++
		}
	}
	require.Len(t, found["video"], items)
	require.Less(t, float64(over), depthMisses*items)
}
