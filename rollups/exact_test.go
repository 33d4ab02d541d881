package rollups

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/enginetest"
	"topk/rollups/recount"
)

// The worker recounts an hour once the watermark has passed its end by ten minutes, again when an event arrives late, and after
// a worker that was stopped another one goes on.
func TestWorkerMakesHoursExact(t *testing.T) {
	e := startEngines(t)
	hour := e.newDay().Add(6 * time.Hour)
	sent := 0
	send := func(at time.Time) {
		sent++
		e.landEvents(t, []event{{itemType: "video", id: "a", eventID: fmt.Sprint(sent), at: at}})
	}
	exact := func() uint64 {
		cover, err := recount.ReadTotalCover(t.Context(), e.conn)
		require.NoError(t, err)
		counts, err := cover.Counts(t.Context(), e.conn, "video", []string{"a", "b"}, time.Minute)
		require.NoError(t, err)
		if len(counts) == 0 {
			return 0
		}
		require.Len(t, counts, 1)
		return counts[0].Views
	}
	mark := func(at time.Time) {
		e.heartbeat(t, at, 1, 1)
		e.heartbeat(t, at, 1, 1) // proves the block before it
	}
	send(hour)
	send(hour.Add(time.Hour))
	w, stop := e.startWorker(t, enginetest.FreeAddress(t))
	mark(hour.Add(time.Hour + 9*time.Minute))
	eventually(t, "a round without anything to do", func() bool { return w.recounted.round.Load() != nil })
	require.Zero(t, exact(), "the hour is not closed")
	mark(hour.Add(time.Hour + 10*time.Minute))
	eventually(t, "the hour is exact", func() bool { return exact() == 1 })
	send(hour.Add(time.Minute))
	eventually(t, "the late event is in it", func() bool { return exact() == 2 })
	stop()
	mark(hour.Add(3 * time.Hour))
	send(hour.Add(2 * time.Minute))
	w, _ = e.startWorker(t, enginetest.FreeAddress(t))
	eventually(t, "another worker goes on", func() bool { return exact() == 4 })

	// An hour that cannot be counted holds back its own landed counts and events and what came since, and nothing before.
	bad := hour.Add(4 * time.Hour)
	e.Query(t, "ALTER TABLE topk.counts_hourly ADD CONSTRAINT bad CHECK hour != '"+bad.Format(time.DateTime)+"'")
	send(bad)
	send(bad.Add(time.Hour))
	asOf := bad.Add(3 * time.Hour)
	mark(asOf)
	eventually(t, "dropping goes on as far as it may", func() bool {
		landed, events := w.recounted.ages(asOf)
		return landed.Equal(bad) && events.Equal(bad)
	})
}

// Nothing is dropped before it has been recounted, however far the watermark is. An hour that waits for more late events holds
// back raw events only.
func TestDroppingWaitsForRecounts(t *testing.T) {
	asOf := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	at := func(days int) time.Time { return asOf.Add(time.Duration(days) * 24 * time.Hour) }
	var r recounted
	ages := func(of time.Time) [2]time.Time {
		landed, events := r.ages(of)
		return [2]time.Time{landed, events}
	}
	require.Equal(t, [2]time.Time{}, ages(asOf), "nothing is known")
	r.note(asOf, recount.Report{})
	require.Equal(t, [2]time.Time{}, ages(asOf), "a round failed before it knew what is due")
	r.note(asOf, recount.Report{Known: true, Uncounted: at(-40), Due: at(-50)})
	require.Equal(t, [2]time.Time{at(-40), at(-50)}, ages(asOf))
	require.Equal(t, [2]time.Time{at(-45), at(-50)}, ages(at(-45)), "dropping may be behind")
	r.note(asOf, recount.Report{Known: true, Due: at(-2)})
	require.Equal(t, [2]time.Time{asOf, at(-2)}, ages(asOf))
	r.note(asOf, recount.Report{Known: true})
	require.Equal(t, [2]time.Time{asOf, asOf}, ages(at(1)), "no round has looked at later hours")
	r.note(at(1), recount.Report{})
	require.Equal(t, [2]time.Time{asOf, asOf}, ages(at(1)), "nor has one that failed before it knew what is due")
}
