package recount

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var errDied = errors.New("the worker died")

// dieAt ends the recounter before its nth step: it takes none after.
func dieAt(r *Recounter, n int) *string {
	step := new(string)
	r.stage = func(name string) error {
		if n--; n > 0 {
			return nil
		}
		if n == 0 {
			*step = name
		}
		return errDied
	}
	return step
}

// work is rounds until nothing more is to be done, or one fails.
func work(t *testing.T, r *Recounter, asOf time.Time) error {
	t.Helper()
	for {
		report, err := r.Round(t.Context(), asOf)
		if err != nil || !report.More {
			return err
		}
	}
}

// At every step of a recount the worker dies. Readers see the old counts or the new ones, and the next round completes it:
// nothing is counted twice. (A death before days are sealed: testSealedDays.)
func testWorkerKilled(t *testing.T, e *engine) {
	recounter := func() *Recounter { return e.recounter(func(c *Config) { c.FoldAfter = day }) }
	asOf := monday.Add(3*day + time.Hour)
	e.send(t, stream(1, "video", 1000, 3*24, 8)...)
	rounds(t, recounter(), asOf)
	died := map[string]bool{}
	for n := 1; ; n++ {
		old := e.truth("video", monday, asOf)
		e.send(t, event{"video", "late", fmt.Sprint(n), "IN", monday.Add(time.Duration(n%2*24) * time.Hour), false})
		changed := e.truth("video", monday, asOf)
		r := recounter()
		step := dieAt(r, n)
		err := work(t, r, asOf)
		if err == nil {
			break
		}
		require.ErrorIs(t, err, errDied)
		died[*step] = true
		require.Contains(t, [][]Count{old, changed}, e.total(t, "video"), "died before %s", *step)
		e.sound(t)
		rounds(t, recounter(), asOf)
		require.Equal(t, changed, e.total(t, "video"), "after the death before %s", *step)
		require.Zero(t, rounds(t, recounter(), asOf).Totals, "all is done")
	}
	for _, step := range []string{"count_hours", "enter_hours", "count_days", "enter_days", "count_total", "enter_total", "drop_partition"} {
		require.True(t, died[step], "the worker died before %s", step)
	}
	e.sound(t)
	require.Equal(t, "9\t3\t1", e.Query(t, `SELECT uniqExactIf(partition_id, table = 'counts_hourly'),
		uniqExactIf(partition_id, table = 'counts_daily'), uniqExactIf(partition_id, table = 'counts_total')
		FROM system.parts WHERE database = 'topk' AND active AND rows > 0`), "one version of each is left")
}

// Hours that are no longer kept are sealed in their days, and a recount of what is left cannot reach them.
func testSealedDays(t *testing.T, e *engine) {
	recounter := func() *Recounter { return e.recounter(func(c *Config) { c.KeepHours = 2 * day }) }
	e.send(t, stream(1, "video", 1000, 4*24, 8)...)
	asOf := monday.Add(4*day + time.Hour)
	r := recounter()
	r.stage = func(step string) error {
		if step == "seal_days" {
			return errDied
		}
		return nil
	}
	require.ErrorIs(t, work(t, r, asOf), errDied)
	require.Equal(t, e.truth("video", monday, asOf), e.total(t, "video"), "the worker died before it sealed")
	r = recounter()
	rounds(t, r, asOf)
	rounds(t, r, asOf)
	require.Equal(t, "2", e.Query(t, "SELECT count() FROM topk.day_versions WHERE sealed"))
	require.Equal(t, "2026-03-04 00:00:00", e.Query(t, "SELECT min(hour) FROM topk.counts_hourly"))
	require.Equal(t, e.truth("video", monday, asOf), e.total(t, "video"))
	require.Equal(t, 2, e.sound(t).Days, "sealed days have no hours to compare with")

	e.Query(t, "INSERT INTO topk.recounts (hour, version, events, distinct_events, items, why) VALUES ('2026-03-02 08:00:00', 9000000000000000, 1, 1, 1, 'too late')")
	rounds(t, r, asOf)
	require.Equal(t, e.truth("video", monday, asOf), e.total(t, "video"), "its day is sealed")
	require.Equal(t, e.truth("video", monday, monday.Add(4*day)), e.exact(t, "video", monday, monday.Add(4*day)))
	_, err := ReadCover(t.Context(), e.conn, monday.Add(8*time.Hour), asOf)
	require.ErrorIs(t, err, ErrSealed)
}

// ClickHouse is killed in the middle of each step of a recount, and between counts and their entry in the ledger: after its
// restart all counts are exact, and nothing is applied twice.
func testClickHouseKilled(t *testing.T, e *engine) {
	const items = 110_000 // of an hour: enough that a kill meets the statement at work, and that parts are merged
	require.Greater(t, items, largeRows)
	hour := monday.Add(5 * time.Hour)
	e.Query(t, fmt.Sprintf(`INSERT INTO topk.events (event_id, item_type, item_id, event_time)
		SELECT toString(number), 'many', toString(number), toDateTime64('%s', 3, 'UTC') + number %% 3600
		FROM numbers(%d)`, hour.Format(time.DateTime), items))
	recounter := func() *Recounter { return e.recounter(func(c *Config) { c.FoldAfter = day }) }
	e.send(t, stream(1, "video", 500, 2*24, 8)...)
	asOf := monday.Add(2*day + time.Hour)
	rounds(t, recounter(), asOf)
	large := e.Query(t, "SELECT count(), countIf(level > 0) FROM system.parts WHERE table LIKE 'counts_%' AND active AND rows > 100000")
	require.Equal(t, "3\t3", large, "an hour, a day and the total are in one merged part each")
	const before, within = 0, 15 * time.Millisecond
	for _, kill := range []struct {
		step  string
		after time.Duration
	}{
		{"count_hours", within}, {"enter_hours", before}, {"enter_hours", within},
		{"count_days", within}, {"enter_days", before}, {"enter_days", within},
		{"count_total", within}, {"enter_total", before}, {"enter_total", within},
		{"merge_partition", within}, {"drop_partition", within},
	} {
		e.send(t, event{"video", "late", fmt.Sprint(kill), "IN", hour, false})
		e.killAt(t, recounter(), kill.step, kill.after, asOf)
		e.sound(t)
		rounds(t, recounter(), asOf)
		require.Equal(t, e.truth("video", monday, asOf), e.total(t, "video"), "killed at %s", kill.step)
		cover, err := ReadTotalCover(t.Context(), e.conn)
		require.NoError(t, err)
		counts, err := cover.Counts(t.Context(), e.conn, "many", []string{"0", "54321", "109999"}, budget)
		require.NoError(t, err)
		require.ElementsMatch(t, []Count{{"0", 1}, {"54321", 1}, {"109999", 1}}, counts, "killed at %s", kill.step)
	}
	e.sound(t)
	require.Equal(t, fmt.Sprintf("%d\t%d", items, items), e.Query(t, "SELECT sum(n), count() FROM topk.exact_total WHERE item_type = 'many'"))
}

// killAt kills ClickHouse a moment after a step began, and starts it again.
func (e *engine) killAt(t *testing.T, r *Recounter, step string, after time.Duration, asOf time.Time) {
	t.Helper()
	killed, dead := false, make(chan struct{})
	kill := func() { e.Kill(); close(dead) }
	r.stage = func(name string) error {
		if name == step && !killed {
			killed = true
			if after == 0 {
				kill()
			} else {
				time.AfterFunc(after, kill) // meets the statement at work
			}
		}
		return nil
	}
	err := work(t, r, asOf)
	require.True(t, killed, "the recount came to %s", step)
	<-dead // also when the round was faster
	if after == 0 {
		require.Error(t, err)
	}
	e.Start(t)
}

// Hours that cannot be counted hold up none of the others, and are tried again: four of the first eight hours are such, in one batch with
// the others.
func testFailingHours(t *testing.T, e *engine) {
	asOf := monday.Add(2*day + time.Hour)
	e.send(t, stream(1, "video", 1000, 48, 1)...)
	e.send(t, event{"video", "a", "now", "IN", asOf, false})
	e.Query(t, "ALTER TABLE topk.counts_hourly ADD CONSTRAINT bad CHECK hour < '2026-03-02 05:00:00' OR hour > '2026-03-02 08:00:00'")
	t.Cleanup(func() { e.Query(t, "ALTER TABLE topk.counts_hourly DROP CONSTRAINT IF EXISTS bad") })
	r := e.recounter()
	fail := func() Report {
		t.Helper()
		report, err := r.Round(t.Context(), asOf)
		require.ErrorContains(t, err, "recount hours from 2026-03-02T0")
		return report
	}
	require.Zero(t, fail().Hours, "all of them are in one statement")
	counted, days := 0, 0
	for range 5 {
		report := fail()
		counted, days = counted+report.Hours, days+report.Days
	}
	require.Equal(t, 44, counted)
	require.Equal(t, 1, days, "that has all of its hours")
	cover, err := ReadTotalCover(t.Context(), e.conn)
	require.NoError(t, err)
	require.Equal(t, monday.Add(5*time.Hour), cover.ExactUntil)
	report := fail()
	require.Equal(t, monday.Add(5*time.Hour), report.Uncounted, "its events must stay")
	require.True(t, report.Known, "and those of other hours need not")
	e.send(t, event{"video", "a", "late", "IN", monday.Add(30 * time.Hour), false})
	require.Equal(t, 1, fail().Days, "a late event is counted meanwhile")

	e.Query(t, "ALTER TABLE topk.counts_hourly DROP CONSTRAINT bad")
	require.Equal(t, 4, rounds(t, r, asOf).Hours)
	require.Equal(t, e.truth("video", monday, monday.Add(2*day)), e.total(t, "video"))
	e.sound(t)
}

// Days that cannot be added up hold up neither others nor the total nor what is dropped, and are tried again. All time is right meanwhile.
func testFailingDays(t *testing.T, e *engine) {
	const all = 6
	asOf := monday.Add(all*day + time.Hour)
	e.send(t, stream(1, "video", 3000, all*24, 1)...)
	e.Query(t, "ALTER TABLE topk.counts_daily ADD CONSTRAINT bad CHECK day < '2026-03-03' OR day > '2026-03-04'")
	t.Cleanup(func() { e.Query(t, "ALTER TABLE topk.counts_daily DROP CONSTRAINT IF EXISTS bad") })
	r := e.recounter(func(c *Config) { c.FoldAfter = day })
	fail := func() Report {
		t.Helper()
		report, err := r.Round(t.Context(), asOf)
		require.ErrorContains(t, err, "add up days from 2026-03-0")
		require.True(t, report.Known)
		return report
	}
	report := fail()
	require.Equal(t, []int{all * 24, 0}, []int{report.Hours, report.Days}, "all of them are in one statement")
	added, folded := 0, 0
	for range 5 {
		report := fail()
		require.Zero(t, report.Due, "every hour is counted, so no event is held back")
		added, folded = added+report.Days, folded+report.Totals
	}
	require.Equal(t, all-2, added)
	require.Positive(t, folded, "those that hold are in the total")
	require.Equal(t, e.truth("video", monday, asOf), e.total(t, "video"))
	e.send(t, event{"video", "late", "1", "IN", monday.Add(3*day + time.Hour), false})
	report = fail()
	require.Equal(t, []int{1, 1}, []int{report.Hours, report.Days}, "a late event is counted meanwhile")
	require.Positive(t, fail().Dropped+report.Dropped, "and what it replaced is dropped")

	e.Query(t, "ALTER TABLE topk.counts_daily DROP CONSTRAINT bad")
	require.Equal(t, 2, rounds(t, r, asOf).Days)
	require.Equal(t, e.truth("video", monday, asOf), e.total(t, "video"))
	require.EqualValues(t, all-1, e.sound(t).Folded)
}
