package rollups

import (
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
	text := os.Getenv("TOPK_BENCH_RATE")
	if text == "" {
		return 100_000
	}
	rate, err := strconv.Atoi(text)
	require.NoError(b, err)
	return rate
}

// BenchmarkBuild reports seconds per step of one build of each window.
func BenchmarkBuild(b *testing.B) {
	e := &engines{ClickHouse: enginetest.StartClickHouse(b, ""), postgres: enginetest.StartPostgres(b)}
	migrator, err := migrations.New(migrations.Config{ClickHouse: e.DSN, Postgres: e.postgres, LockWait: time.Minute}, quiet())
	require.NoError(b, err)
	_, err = migrator.Up(b.Context())
	require.NoError(b, err)
	e.conn, err = clickhouse.Open(e.DSN)
	require.NoError(b, err)
	defer func() { require.NoError(b, e.conn.Close()) }()
	start, rate := e.newDay().Add(time.Hour), benchRate(b)
	landed := 0
	land := func(seconds int) {
		for ; landed < seconds; landed++ {
			landSecond(b, e, start, landed, rate)
		}
	}
	land(benchSeconds)
	b.Logf("counts_second holds %s rows", e.Query(b, "SELECT count() FROM topk.counts_second"))
	for _, w := range list.Windows {
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
				land(landed + 1)
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
