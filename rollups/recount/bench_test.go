package recount

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// benchEvents is TOPK_BENCH_EVENTS, or 10 million.
func benchEvents(b *testing.B) int {
	n, err := strconv.Atoi(cmp.Or(os.Getenv("TOPK_BENCH_EVENTS"), "10000000"))
	require.NoError(b, err)
	return n
}

// benchBlock is how many events are inserted at once.
const benchBlock = 1_000_000

// fillHour makes one hour of events over some 800,000 items: four in five views follow a Zipf law of exponent 1.1, the rest is
// even. An item has one category and language, its viewers are in six countries. Every 50th event is sent twice.
func (e *engine) fillHour(b *testing.B, events int) {
	for from := benchBlock; from < events+benchBlock; from += benchBlock {
		e.Query(b, fmt.Sprintf(`INSERT INTO topk.events (event_id, item_type, item_id, event_time, country, category, language, viewer)
			WITH toUInt64(if(number %% 50 = 49, toUInt64(number - 40000 + number %% 7), number)) AS n,
			     toUInt32(if(sipHash64(n, 1) %% 5 = 0, sipHash64(n, 2) %% 800000,
			                 pow(1 - sipHash64(n, 3) / 18446744073709551616 * (1 - pow(8e5, -0.1)), -10))) AS item
			SELECT concat('e', toString(n)), 'video', concat('v_', toString(item)),
			       toDateTime64('2026-03-02 10:00:00', 3, 'UTC') + n %% 3600000 / 1000,
			       ['US', 'US', 'US', 'US', 'US', 'US', 'IN', 'IN', 'IN', 'IN', 'IN', 'DE', 'DE', 'FR', 'BR', 'JP'][1 + sipHash64(n, 4) %% 16],
			       ['music', 'sport', 'news', 'games', 'film', 'food'][1 + sipHash64(item) %% 6],
			       ['en', 'hi', 'de', 'fr', 'pt'][1 + sipHash64(item, 2) %% 5], concat('u', toString(sipHash64(n, 7) %% 2000000))
			FROM numbers(%d, %d)`, from, min(benchBlock, events+benchBlock-from)))
	}
}

// BenchmarkRecount times the recount of one hour, as its blocks arrived and once they are merged, which is how it is found ten
// minutes after its end.
func BenchmarkRecount(b *testing.B) {
	e := startEngine(b)
	e.Query(b, "SYSTEM STOP MERGES topk.events")
	events := benchEvents(b)
	e.fillHour(b, events)
	r := e.recounter()
	hour := monday.Add(10 * time.Hour)
	run := func(b *testing.B) {
		for b.Loop() {
			_, err := r.recount(b.Context(), []time.Time{hour}, WhyByHand, false)
			require.NoError(b, err)
		}
		b.ReportMetric(float64(events)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mevents/s")
	}
	b.Run("unmerged", run)
	e.Query(b, "SYSTEM START MERGES topk.events")
	e.Query(b, "OPTIMIZE TABLE topk.events")
	b.Run("merged", run)
	b.Logf("%s events, %s", e.Query(b, "SELECT argMax(distinct_events, version), argMax(items, version) FROM topk.recounts"),
		e.Query(b, "SELECT count(), sum(rows) FROM system.parts WHERE table = 'events' AND active"))
}
