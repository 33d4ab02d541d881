package rollups

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/list"
)

// BenchmarkLong reports what lists of closed hours cost on a day of hours with TOPK_BENCH_ITEMS items each (2 million), a quarter more
// events, and a minute of the next hour. The list of 24h alone: the first, which groups every hour, that of a worker that starts anew, and
// one after another hour has closed. All long lists: of a worker that starts anew, a minute later, and after an hour has closed. And
// the list of 24h grouped from raw events.
func BenchmarkLong(b *testing.B) {
	items, err := strconv.Atoi(cmp.Or(os.Getenv("TOPK_BENCH_ITEMS"), "2000000"))
	require.NoError(b, err)
	e := benchEngines(b)
	start := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	const hours = 24
	for hour := range hours + 1 {
		e.fillHour(b, start.Add(time.Duration(hour)*time.Hour), hour, items)
	}
	for hour := range hours {
		e.enterHour(b, start.Add(time.Duration(hour)*time.Hour))
	}
	open := start.Add(hours * time.Hour)
	for second := range 60 {
		landSecond(b, e, open.Add(10*time.Minute), second, 20_000)
	}
	b.Logf("counts_hourly holds %s rows, events %s", e.Query(b, "SELECT count() FROM topk.counts_hourly"), e.Query(b, "SELECT count() FROM topk.events"))
	metered := meter(b, e)
	asOf := open.Add(11 * time.Minute)
	newLong := func(windows ...list.Window) *Long {
		long := NewLong(e.conn, NewBuilder(e.conn, DefaultConfig().Builder, quiet(), nil), 10*time.Minute)
		long.windows = windows
		return long
	}
	measure := func(name string, long *Long) {
		cpu, began := metered.cpu(), time.Now()
		lists, err := long.Build(b.Context(), asOf)
		require.NoError(b, err)
		took := time.Since(began)
		b.ReportMetric(took.Seconds(), name+"-s")
		b.ReportMetric((metered.cpu() - cpu).Seconds(), name+"-cpu-s")
		l := lists[0]
		b.Logf("%s took %s: %s %s, exact until %s, certified %v, floor %d, position 1000 has %d", name, took.Round(time.Millisecond),
			l.Window, l.Method, l.ExactUntil.Format(time.TimeOnly), l.Certified, l.Floor, l.Items[999].Count)
	}
	for range b.N {
		measure("24h-first", newLong(list.Long[0]))
		day, all := newLong(list.Long[0]), newLong(list.Long...)
		measure("24h-restart", day)
		measure("all-restart", all)
		asOf = asOf.Add(time.Minute)
		measure("all-minute", all)
		e.enterHour(b, open)
		asOf = asOf.Add(time.Hour)
		measure("24h-hour", day)
		measure("all-hour", all)

		began := time.Now()
		e.Query(b, fmt.Sprintf(`SELECT item_id, count() AS views FROM topk.events FINAL WHERE item_type = 'video' AND event_time >= '%s' AND event_time < '%s' AND empty(flags)
			GROUP BY item_id ORDER BY views DESC, item_id LIMIT %d SETTINGS do_not_merge_across_partitions_select_final = 1, defer_partition_pruning_after_final = 0`,
			start.Add(time.Hour).Format(time.DateTime), asOf.Format(time.DateTime), list.StoredItems))
		b.ReportMetric(time.Since(began).Seconds(), "naive-24h-s")
	}
}

// fillHour makes the raw events of an hour: each item once, and a quarter as many views by Zipf's law. A tenth of the items is new.
func (e *engines) fillHour(b *testing.B, hour time.Time, n, items int) {
	b.Helper()
	e.Query(b, fmt.Sprintf(`INSERT INTO topk.events (event_id, item_type, item_id, event_time)
		SELECT toString(number), 'video', concat('v_', toString(if(number < %[1]d, number + %[2]d,
			toUInt32(pow(1 - sipHash64(number, %[2]d) / 18446744073709551616 * (1 - pow(1e7, -0.1)), -10))))),
			toDateTime64('%[3]s', 3, 'UTC') + number %% 3600000 / 1000
		FROM numbers(%[4]d)`, items, n*items/10, hour.Format(time.DateTime), items*5/4))
}

// enterHour makes an hour exact, as the README of recount says.
func (e *engines) enterHour(b *testing.B, hour time.Time) {
	b.Helper()
	e.Query(b, fmt.Sprintf(`INSERT INTO topk.counts_hourly (item_type, item_id, hour, version, country, category, language, n)
		SELECT item_type, item_id, toDateTime('%[1]s', 'UTC') AS start, 1, country, category, language, count() FROM topk.events FINAL
		WHERE event_time >= '%[1]s' AND event_time < toDateTime('%[1]s', 'UTC') + INTERVAL 1 HOUR GROUP BY ALL
		SETTINGS do_not_merge_across_partitions_select_final = 1, defer_partition_pruning_after_final = 0`, hour.Format(time.DateTime)))
	e.Query(b, fmt.Sprintf("OPTIMIZE TABLE topk.counts_hourly PARTITION (toDateTime('%s', 'UTC'), 1) FINAL", hour.Format(time.DateTime))) // as the worker does
	e.Query(b, fmt.Sprintf("INSERT INTO topk.recounts (hour, version, events, distinct_events, items, events_block, why) VALUES ('%s', 1, 1, 1, 1, 1000000000, 'closed')", hour.Format(time.DateTime)))
}
