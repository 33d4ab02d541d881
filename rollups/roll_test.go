package rollups

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/wire"
)

// rollAll fills all that is due, and returns how much that was. It looks at the totals whatever was remembered of them.
func rollAll(t *testing.T, r *roller, asOf time.Time) (filled int) {
	t.Helper()
	r.asked = time.Time{}
	for all := false; !all; {
		n, done, err := r.roll(t.Context(), asOf)
		require.NoError(t, err)
		filled, all = filled+n, done
	}
	return filled
}

// sketched are the views in the sketches of a table, bucket by bucket: the least of a row, and the same of the seals.
func (e *engines) sketched(t *testing.T, table string, s span) string {
	t.Helper()
	return strings.TrimSpace(e.Query(t, fmt.Sprintf(`SELECT arrayStringConcat(groupArray(toString(least) || '/' || toString(seal)), ' ') FROM (
		SELECT minIf(views, row < 255) AS least, sumIf(views, row = 255) AS seal FROM (
			SELECT bucket, row, sum(n) AS views FROM topk.%s FINAL WHERE bucket >= '%s' AND bucket < '%s' GROUP BY bucket, row)
		GROUP BY bucket ORDER BY bucket)`, table, s.from.Format(time.DateTime), s.until.Format(time.DateTime))))
}

// fillRows fills rows of the sketch of a minute and stops there, as a worker that is killed.
func (e *engines) fillRows(t *testing.T, minute time.Time, rows int) {
	t.Helper()
	b := batches(minuteStep, []time.Time{minute}, map[time.Time]holding{minute: {arrived: fillCells}})[0]
	for range rows {
		done, err := b.advance(t.Context(), e.conn)
		require.NoError(t, err)
		require.False(t, done)
	}
}

func (e *engines) summary(t *testing.T, table string, from time.Time) string {
	t.Helper()
	return strings.TrimSpace(e.Query(t, fmt.Sprintf("SELECT items, floor, applied FROM topk.%s WHERE bucket = '%s' ORDER BY applied DESC LIMIT 1", table, from.Format(time.DateTime))))
}

// Two hours, the last of their day, three minutes each: filled once, again when a late event arrives, and a repeat changes nothing.
func TestSketchesAreFilledOnce(t *testing.T) {
	e := startEngines(t)
	midnight := e.newDay()
	for hour := 22; hour < 24; hour++ {
		for minute := range 3 {
			at := midnight.Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute)
			e.land(t, wire.CountsTopic, e.message(append(views("a", 5, at, at.Add(20*time.Second)), views(fmt.Sprint("b", hour), 3, at)...)...))
		}
	}
	whole := span{midnight, midnight.Add(day)}
	first, last := midnight.Add(22*time.Hour), midnight.Add(23*time.Hour)
	r := newRoller(e.conn)
	require.Zero(t, rollAll(t, r, first.Add(time.Minute+minuteStep.settle-time.Second)))
	require.Equal(t, 1, rollAll(t, r, first.Add(time.Minute+minuteStep.settle)))
	require.Equal(t, 2+3, rollAll(t, r, last.Add(hourStep.settle-time.Second)), "the minutes of both hours")
	require.Equal(t, "13/13 13/13 13/13", e.sketched(t, "cms_minute", span{first, last}))
	require.Empty(t, e.sketched(t, "cms_hour", whole))
	_, err := compact(t.Context(), e.conn, minuteGrain, last)
	require.NoError(t, err)
	require.Equal(t, 1, rollAll(t, r, last.Add(hourStep.settle)))
	require.Equal(t, "39/39", e.sketched(t, "cms_hour", whole))
	require.Equal(t, `[('a',30,0),('b22',9,0)]`+"\t0\t39", e.summary(t, "topk_hour", first))
	require.Zero(t, rollAll(t, r, last.Add(hourStep.settle)))
	end := last.Add(time.Hour + hourStep.settle)
	require.Equal(t, 2, rollAll(t, r, end))
	require.Equal(t, "39/39 39/39", e.sketched(t, "cms_hour", whole))
	require.Equal(t, "78/78", e.sketched(t, "cms_day", whole))
	require.Equal(t, `[('a',60,0),('b22',9,0),('b23',9,0)]`+"\t0\t78", e.summary(t, "topk_day", midnight))

	for range 2 { // repeats, as after a crash before it was known to be done
		for _, s := range steps {
			held, err := s.held(t.Context(), e.conn, whole)
			require.NoError(t, err)
			for start, v := range held {
				require.True(t, v.whole())
				b := batches(s, []time.Time{start}, held)[0]
				for done := false; !done; {
					done, err = b.advance(t.Context(), e.conn)
					require.NoError(t, err)
				}
			}
		}
	}
	require.Equal(t, strings.TrimSpace(strings.Repeat("13/13 ", 6)), e.sketched(t, "cms_minute", whole))
	require.Equal(t, "39/39 39/39", e.sketched(t, "cms_hour", whole))
	require.Equal(t, "78/78", e.sketched(t, "cms_day", whole))
	require.Equal(t, "78", strings.Split(e.summary(t, "topk_day", midnight), "\t")[2])

	e.land(t, wire.CountsTopic, e.message(views("late", 4, first.Add(time.Minute))...))
	require.Equal(t, 2, rollAll(t, r, end.Add(time.Minute)), "more may come: the day was filled a moment ago")
	require.Equal(t, "78/78", e.sketched(t, "cms_day", whole))
	require.Equal(t, 1, rollAll(t, r, end.Add(refillEvery)))
	require.Equal(t, "43/43 39/39", e.sketched(t, "cms_hour", whole))
	require.Equal(t, "82/82", e.sketched(t, "cms_day", whole))
	require.Equal(t, `[('a',60,0),('b22',9,0),('b23',9,0),('late',4,0)]`+"\t0\t82", e.summary(t, "topk_day", midnight))
	e.land(t, "", e.message(views("by hand", 2, first.Add(time.Minute))...))
	require.Equal(t, 3, rollAll(t, newRoller(e.conn), end.Add(refillEvery)), "another worker remembers no attempt")
	require.Equal(t, "13/13 19/19 13/13", e.sketched(t, "cms_minute", span{first, last}))
	require.Zero(t, rollAll(t, newRoller(e.conn), end.Add(refillEvery)))
}

// A worker that dies between two statements leaves a minute without a seal; the next fills it whole.
func TestHalfFilledMinuteIsFilledByTheNextWorker(t *testing.T) {
	e := startEngines(t)
	start := e.newDay()
	e.land(t, wire.CountsTopic, e.message(append(views("a", 5, start), views("b", 3, start)...)...))
	whole := span{start, start.Add(time.Hour)}
	for rows := range sketchRows + 1 {
		e.fillRows(t, start, rows)
		held, err := minuteStep.held(t.Context(), e.conn, whole)
		require.NoError(t, err)
		require.Equal(t, map[time.Time]holding{start: {arrived: 8}}, held, "%d rows are there, and no seal", rows)
	}
	require.Equal(t, 1, rollAll(t, newRoller(e.conn), start.Add(time.Hour)))
	require.Equal(t, "8/8", e.sketched(t, "cms_minute", whole))
}

// What a view has not written to counts_minute yet, though others have, is not sealed as if it were there; the minute is filled
// again, and an estimate counts it from counts_minute meanwhile.
func TestSealIsOfWhatWasFilled(t *testing.T) {
	e := startEngines(t)
	start := e.newDay()
	whole := span{start, start.Add(time.Hour)}
	e.land(t, wire.CountsTopic, e.message(views("a", 5, start)...))
	e.Query(t, fmt.Sprintf("INSERT INTO topk.topk_10s SELECT item_type, slice, bucket, 1, [('b', 3, 0)], 0, 3 FROM topk.topk_10s WHERE bucket = '%s'", start.Format(time.DateTime)))
	r := newRoller(e.conn)
	require.Equal(t, 1, rollAll(t, r, start.Add(time.Hour)))
	require.Equal(t, "5/5", e.sketched(t, "cms_minute", whole))
	held, err := minuteStep.held(t.Context(), e.conn, whole)
	require.NoError(t, err)
	require.False(t, held[start].whole())
	require.Zero(t, rollAll(t, r, start.Add(time.Hour)), "not at once again")
	e.Query(t, fmt.Sprintf("INSERT INTO topk.counts_minute SELECT item_type, 'b', minute, '', '', '', 3 FROM topk.counts_minute WHERE minute = '%s'", start.Format(time.DateTime)))
	for try := range maxTries + 1 {
		for b, a := range r.tries {
			a.at = a.at.Add(-rollEvery)
			r.tries[b] = a
		}
		require.Equal(t, map[bool]int{true: 1}[try == 0], rollAll(t, r, start.Add(time.Hour)))
	}
	require.Equal(t, "8/8", e.sketched(t, "cms_minute", whole))
}

// A long outage or a replay of recorded data is caught up with in few statements where minutes are small, and row by row
// where one is large; nothing is reported done before it is.
func TestBacklogIsCaughtUpInBoundedStatements(t *testing.T) {
	start := time.Date(1995, 7, 1, 0, 0, 0, 0, time.UTC)
	held := map[time.Time]holding{}
	var due []time.Time
	for minute := range 28 * 60 {
		at := start.Add(time.Duration(minute) * time.Minute)
		held[at] = holding{arrived: 100}
		due = append(due, at)
	}
	held[due[70]] = holding{arrived: 6_000_000}
	all := batches(minuteStep, due, held)
	require.LessOrEqual(t, len(all), len(due)/maxBatch+3)
	minutes := 0
	for _, b := range all {
		views := uint64(0)
		for _, n := range b.arrived {
			views += n
		}
		minutes += len(b.buckets)
		require.LessOrEqual(t, len(b.buckets), maxBatch)
		require.Len(t, b.rows, sketchRows)
		require.True(t, b.together == sketchRows && views*sketchRows <= fillCells || b.together == 1 && len(b.buckets) == 1)
	}
	require.Equal(t, len(due), minutes)

	e := startEngines(t)
	var rows []count
	for _, at := range due {
		rows = append(rows, views("a", 2, at)...)
	}
	e.land(t, wire.CountsTopic, e.message(rows...))
	r := newRoller(e.conn)
	asOf := due[len(due)-1].Add(time.Hour + time.Minute + hourStep.settle)
	require.Equal(t, len(due)+28+1, rollAll(t, r, asOf))
	require.Equal(t, "2880/2880", e.sketched(t, "cms_day", span{start, start.Add(day)}))
	require.Len(t, r.tries, len(due)+28+1)
	e.Query(t, "TRUNCATE TABLE topk.topk_10s")
	require.Zero(t, rollAll(t, r, asOf))
	require.Len(t, r.tries, 28+1, "minutes that nothing is kept of are forgotten")
}
