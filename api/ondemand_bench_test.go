package api

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var benchRate = flag.Int("rate", 1000, "events per second in the benchmark")

// generateViews is a minute of events, Zipf distributed over a million items, 40 countries, those of the EU among them, 40 categories and
// 10 languages.
const generateViews = `
INSERT INTO topk.counts_second (item_type, item_id, second, country, category, language, ingestor, sequence, n)
SELECT 'video', 'video_' || toString(toUInt32(pow(1e6, rand(1) / 4294967296.))) AS item, toDateTime(%[1]d, 'UTC') + intDiv(number, %[2]d) AS second,
       substring('USINBRGBJPCNMXCAAUKRZAARTRATBEBGCYCZDEDKEEESFIFRGRHRHUIEITLTLULVMTNLPLPTROSESISK', 1 + 2 * toUInt32(pow(40, rand(2) / 4294967296.)), 2) AS code,
       'category ' || toString(toUInt32(pow(40, rand(3) / 4294967296.))) AS category,
       char(97 + toUInt32(pow(10, rand(4) / 4294967296.)), 97) AS language, 'bench@1', intDiv(number, 1000), count()
FROM numbers(%[3]d)
GROUP BY item, second, code, category, language, intDiv(number, 1000)`

// BenchmarkOnDemand says how long a union of the 27 countries of the EU takes when nobody has asked for it lately, and when somebody has.
//
//	go test ./api -run '^$' -bench OnDemand -benchtime 50x -timeout 30m
func BenchmarkOnDemand(b *testing.B) {
	db, m := startDatabase(b), startMinutes(b)
	for n := range 60 {
		m.Query(b, fmt.Sprintf(generateViews, noon.Add(-time.Duration(60-n)*time.Minute).Unix(), *benchRate, *benchRate*60))
	}
	m.Query(b, `INSERT INTO topk.counts_minute SELECT item_type, item_id, toStartOfMinute(second), country, category, language, sum(n)
		FROM topk.counts_second GROUP BY ALL SETTINGS max_bytes_before_external_group_by = 1000000000`)
	m.Query(b, `INSERT INTO topk.landed SELECT item_type, second, ingestor, 0, sum(n), 0 FROM topk.counts_second GROUP BY ALL`)
	m.fill(b, noon)
	a := startAsking(b, db, m)
	for _, window := range []string{"1m", "5m", "1h"} {
		for _, cold := range []bool{true, false} {
			b.Run(fmt.Sprintf("window=%s/cold=%t", window, cold), func(b *testing.B) {
				path := "/v1/topk?region=eu&window=" + window
				a.list(path)
				var took []time.Duration
				for b.Loop() {
					if cold {
						a.clock.pass(demandFresh)
					}
					began := time.Now()
					got := a.get(path)
					took = append(took, time.Since(began))
					require.Equal(b, 200, got.status)
				}
				certified := 0.0
				if a.list(path).Certified {
					certified = 1
				}
				b.ReportMetric(certified, "certified-to-100")
				b.ReportMetric(float64(len(a.list(path+"&k=1000").Items)), "items")
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
			})
		}
	}
}
