package rollups

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/enginetest"
	"topk/internal/list"
	"topk/internal/wire"
	"topk/migrations"

	"topk/internal/clickhouse"
)

// Two minutes of events, Zipf 1.1 over ten million items, in a block a second as the Kafka table would bring them; a block is
// combined per item, country and second.
const benchSeconds = 120

// benchRate is in events a second: TOPK_BENCH_RATE, or 100,000.
func benchRate(b *testing.B) int {
	rate, err := strconv.Atoi(cmp.Or(os.Getenv("TOPK_BENCH_RATE"), "100000"))
	require.NoError(b, err)
	return rate
}

// benchEngines are a ClickHouse and a PostgreSQL with the schema.
func benchEngines(b *testing.B) *engines {
	b.Helper()
	e := &engines{ClickHouse: enginetest.StartClickHouse(b, ""), postgres: enginetest.StartPostgres(b)}
	migrator, err := migrations.New(migrations.Config{ClickHouse: e.DSN, Postgres: e.postgres, LockWait: time.Minute}, quiet())
	require.NoError(b, err)
	_, err = migrator.Up(b.Context())
	require.NoError(b, err)
	e.conn, err = clickhouse.Open(e.DSN)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, e.conn.Close()) })
	return e
}

// landBench starts engines and lands the events.
func landBench(b *testing.B) (e *engines, start time.Time) {
	b.Helper()
	e = benchEngines(b)
	start = e.newDay().Add(time.Hour)
	for second := range benchSeconds {
		landSecond(b, e, start, second, benchRate(b))
	}
	b.Logf("counts_second holds %s rows", e.Query(b, "SELECT count() FROM topk.counts_second"))
	return e, start
}

// BenchmarkBuild reports seconds per step of one build of each window.
func BenchmarkBuild(b *testing.B) {
	e, start := landBench(b)
	landed := benchSeconds
	for _, w := range list.Live {
		b.Run(w.Name, func(b *testing.B) {
			took := map[string]time.Duration{}
			metered := meter(b, e)
			builder := NewBuilder(metered, DefaultConfig().Builder, quiet(), func(_, step string, d time.Duration) {
				if metered.off {
					took[step] += d
				}
			})
			builder.config.VerifyTimeout = time.Minute
			n := 0
			for b.Loop() {
				b.StopTimer()
				landSecond(b, e, start, landed, benchRate(b))
				landed++
				b.StartTimer()
				// Every other build is metered, which takes time of its own: the others are timed.
				metered.off = n%2 == 1
				l := build(b, builder, w.Name, "video", start.Add(time.Duration(landed)*time.Second))
				n++
				if n == 1 {
					clear(took)
					clear(metered.costs)
					b.Logf("%s: %s, certified to 1000: %v, max_overcount %d, floor %d, position 1000 has %d", w.Name, l.Method, l.Certified, l.MaxOvercount, l.Floor, l.Items[999].Count)
				}
			}
			metered.report(b, max((n-1)/2, 1))
			for step, d := range took {
				b.ReportMetric(d.Seconds()/float64(max(n/2, 1)), step+"-s/op")
			}
		})
	}
}

// BenchmarkFill reports what each statement of the sketch of a minute costs, when the minutes of TOPK_BENCH_MINUTES before it
// are in the same part of counts_minute, and what it writes.
func BenchmarkFill(b *testing.B) {
	e, start := landBench(b)
	before, err := strconv.Atoi(cmp.Or(os.Getenv("TOPK_BENCH_MINUTES"), "0"))
	require.NoError(b, err)
	for n := range before {
		e.Query(b, fmt.Sprintf(`INSERT INTO topk.counts_minute SELECT item_type, item_id, minute + %d, country, category, language, n
			FROM topk.counts_minute WHERE minute = '%s'`, 60*(n+2), start.Format(time.DateTime)))
	}
	if before > 0 {
		e.Query(b, "OPTIMIZE TABLE topk.counts_minute FINAL")
	}
	b.Logf("counts_minute holds %s rows", e.Query(b, "SELECT count() FROM topk.counts_minute"))
	metered := meter(b, e)
	for b.Loop() {
		held, err := minuteStep.held(b.Context(), metered, span{start, start.Add(time.Minute)})
		require.NoError(b, err)
		minute := batches(minuteStep, []time.Time{start}, held)[0]
		for done := false; !done; {
			done, err = minute.advance(b.Context(), metered)
			require.NoError(b, err)
		}
	}
	metered.report(b, b.N)
	b.Logf("a filling writes %s cells", e.Query(b, "SELECT count() FROM topk.cms_minute FINAL"))
}

// landSecond brings the events of one second, and their counts as one block.
func landSecond(b *testing.B, e *engines, start time.Time, second, rate int) {
	b.Helper()
	_, err := e.Try(fmt.Sprintf(`INSERT INTO topk.counts_in (item_type, item_id, country, second, n, ingestor, sequence, topic, partition, offset, partitions)
		SELECT 'video', id, country, toDateTime(%d, 'UTC'), count(), 'bench@1', %d, '%s', 0, %d, 1 FROM (
			SELECT concat('v_', toString(toUInt32(pow(1 - randCanonical() * (1 - pow(1e7, -0.1)), -10)))) AS id,
			       ['US', 'IN', 'DE', 'FR'][1 + number %% 4] AS country FROM numbers(%d)) GROUP BY id, country`,
		start.Unix()+int64(second), second, wire.CountsTopic, second, rate))
	require.NoError(b, err)
	e.Query(b, fmt.Sprintf(`INSERT INTO topk.event_identities SELECT 'video', toDateTime(%d, 'UTC'), 0, part, %d, length(identities), identities FROM (
		SELECT number %% 12 AS part, groupArray(sipHash64(%d + number)) AS identities FROM numbers(%d) GROUP BY part)`,
		start.Unix()+int64(second), second, second*rate, rate))
}
