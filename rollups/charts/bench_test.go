package charts

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkCount times the count of one UTC day as it is found when it is over, with a cap and without: TOPK_BENCH_EVENTS (6 million)
// over 800,000 items, four in five views by a Zipf law of exponent 1.1, of 2 million viewers, every 50th event sent twice.
func BenchmarkCount(b *testing.B) {
	events := 6_000_000
	if text := os.Getenv("TOPK_BENCH_EVENTS"); text != "" {
		var err error
		events, err = strconv.Atoi(text)
		require.NoError(b, err)
	}
	e := startEngines(b)
	for hour := range 24 {
		e.Query(b, fmt.Sprintf(`INSERT INTO topk.events (event_id, item_type, item_id, event_time, viewer)
			WITH if(number %% 50 = 49, number - 40, number) AS n,
			     toUInt32(if(sipHash64(n, 1) %% 5 = 0, sipHash64(n, 2) %% 800000,
			                 pow(1 - sipHash64(n, 3) / 18446744073709551616 * (1 - pow(8e5, -0.1)), -10))) AS item
			SELECT concat('e', toString(n)), 'video', concat('v_', toString(item)),
			       toDateTime64('2026-03-02 00:00:00', 3, 'UTC') + %d * 3600 + n %% 3600000 / 1000, concat('u', toString(sipHash64(n, 7) %% 2000000))
			FROM numbers(%d, %d)`, hour, hour*events/24, events/24))
		e.Query(b, fmt.Sprintf("OPTIMIZE TABLE topk.events PARTITION '2026-03-02 %02d:00:00' FINAL", hour))
	}
	until := monday.AddDate(0, 0, 1)
	for _, limit := range []uint64{10, 0} {
		b.Run(fmt.Sprint("cap=", limit), func(b *testing.B) {
			for b.Loop() {
				counts, err := e.maker().count(b.Context(), job{from: monday, until: until, asOf: until, span: span{viewed: true}}, limit)
				require.NoError(b, err)
				require.NotZero(b, counts["video"].total)
			}
			b.ReportMetric(float64(events)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mevents/s")
		})
	}
}
