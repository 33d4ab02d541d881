package rollups

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/wire"
)

// Two hours, the last of their day: filled once, again when a late event arrives, and a repeat changes nothing.
func TestHoursAndDaysAreFilledOnce(t *testing.T) {
	e := startEngines(t)
	midnight := e.newDay()
	for hour := 22; hour < 24; hour++ {
		for minute := range 3 {
			at := midnight.Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute)
			e.land(t, wire.CountsTopic, e.message(append(views("a", 5, at, at.Add(20*time.Second)), views(fmt.Sprint("b", hour), 3, at)...)...))
		}
	}
	totals := func(what string) string {
		return strings.TrimSpace(e.Query(t, "SELECT arrayStringConcat(groupArray(toString(views)), ' ') FROM (SELECT sum(n) AS views FROM topk."+what+" FINAL WHERE row = 0 GROUP BY bucket ORDER BY bucket)"))
	}
	summary := func(table string, from time.Time) string {
		return strings.TrimSpace(e.Query(t, fmt.Sprintf("SELECT items, floor, applied FROM topk.%s WHERE bucket = '%s' ORDER BY applied DESC LIMIT 1", table, from.Format(time.DateTime))))
	}
	r := newRoller(e.conn)
	roll := func(asOf time.Time, want int) {
		t.Helper()
		r.asked = time.Time{}
		filled, all, err := r.roll(t.Context(), asOf)
		require.NoError(t, err)
		require.True(t, all)
		require.Equal(t, want, filled)
	}
	first, last := midnight.Add(22*time.Hour), midnight.Add(23*time.Hour)
	roll(last.Add(settle-time.Second), 0)
	_, err := compact(t.Context(), e.conn, last)
	require.NoError(t, err)
	roll(last.Add(settle), 1)
	require.Equal(t, "39", totals("cms_hour"))
	require.Equal(t, `[('a',30,0),('b22',9,0)]`+"\t0\t39", summary("topk_hour", first))
	roll(last.Add(settle), 0)
	roll(last.Add(time.Hour+settle), 2)
	require.Equal(t, "39 39", totals("cms_hour"))
	require.Equal(t, "78", totals("cms_day"))
	require.Equal(t, `[('a',60,0),('b22',9,0),('b23',9,0)]`+"\t0\t78", summary("topk_day", midnight))

	for range 2 { // repeats, as after a crash before it was known to be done
		require.NoError(t, r.hour(t.Context(), span{first, last}))
		require.NoError(t, r.day(t.Context(), span{midnight, midnight.Add(day)}))
	}
	require.Equal(t, "39 39", totals("cms_hour"))
	require.Equal(t, "78", totals("cms_day"))
	require.Equal(t, "78", strings.Split(summary("topk_day", midnight), "\t")[2])

	e.land(t, wire.CountsTopic, e.message(views("late", 4, first.Add(time.Minute))...))
	r = newRoller(e.conn) // another worker
	roll(last.Add(time.Hour+settle), 2)
	require.Equal(t, "43 39", totals("cms_hour"))
	require.Equal(t, "82", totals("cms_day"))
	require.Equal(t, `[('a',60,0),('b22',9,0),('b23',9,0),('late',4,0)]`+"\t0\t82", summary("topk_day", midnight))
	roll(last.Add(time.Hour+settle), 0)
}
