package slices

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/list"
	"topk/internal/slice"
)

var (
	benchRate    = flag.Int("rate", 50_000, "events per second in the benchmark")
	benchMinutes = flag.Int("minutes", 60, "minutes of events in the benchmark")
	benchPairs   = flag.String("pairs", "all", "pairs that are kept in the benchmark: all measures without and with the default ones")
)

// benchLast minutes at the end have lists made each minute, as the worker does it. Of those before every tenth has, so that what is in a list is
// followed.
const benchLast = 10

// generate is a minute of events, Zipf distributed over a million items, 200 countries, 40 categories and 10 languages.
const generate = `
INSERT INTO topk.counts_second (item_type, item_id, second, country, category, language, ingestor, sequence, n)
SELECT 'video', 'video_' || toString(toUInt32(pow(1e6, rand(1) / 4294967296.))) AS item, toDateTime(%[1]d, 'UTC') + intDiv(number, %[2]d) AS second,
       substring('ADAEAFAGAIALAMAOAQARASATAUAWAXAZBABBBDBEBFBGBHBIBJBLBMBNBOBQBRBSBTBVBWBYBZCACCCDCFCGCHCICKCLCMCNCOCRCUCVCWCXCYCZDEDJDKDMDODZECEEEGEHERESETFIFJFKFMFOFRGAGBGDGEGFGGGHGIGLGMGNGPGQGRGSGTGUGWGYHKHMHNHRHTHUIDIEILIMINIOIQIRISITJEJMJOJPKEKGKHKIKMKNKPKRKWKYKZLALBLCLILKLRLSLTLULVLYMAMCMDMEMFMGMHMKMLMMMNMOMPMQMRMSMTMUMVMWMXMYMZNANCNENFNGNINLNONPNRNUNZOMPAPEPFPGPHPKPLPMPNPRPSPTPWPYQARERORSRURWSASBSCSDSESGSHSI', 1 + 2 * toUInt32(pow(199, rand(2) / 4294967296.)), 2) AS code,
       'category ' || toString(toUInt32(pow(40, rand(3) / 4294967296.))) AS category,
       char(97 + toUInt32(pow(10, rand(4) / 4294967296.)), 97) AS language, 'bench@1', intDiv(number, 1000), count()
FROM numbers(%[3]d)
GROUP BY item, second, code, category, language, intDiv(number, 1000)
SETTINGS max_block_size = 65536`

// fillBench is the events of an hour, as the ingestion leaves them.
func fillBench(b *testing.B, e *engine) {
	b.Helper()
	for n := range *benchMinutes {
		minute := noon.Add(-time.Duration(*benchMinutes-n) * time.Minute)
		e.Query(b, fmt.Sprintf(generate, minute.Unix(), *benchRate, *benchRate*60))
	}
	e.Query(b, `INSERT INTO topk.counts_minute SELECT item_type, item_id, toStartOfMinute(second), country, category, language, sum(n)
		FROM topk.counts_second GROUP BY ALL SETTINGS max_bytes_before_external_group_by = 2000000000`)
	e.Query(b, `INSERT INTO topk.landed SELECT item_type, second, ingestor, 0, sum(n), 0 FROM topk.counts_second GROUP BY ALL`)
}

func cpu(b *testing.B, e *engine) float64 {
	b.Helper()
	var seconds float64
	_, err := fmt.Sscan(e.Query(b, "SELECT sum(value) / 1e6 FROM system.events WHERE event IN ('UserTimeMicroseconds', 'SystemTimeMicroseconds')"), &seconds)
	require.NoError(b, err)
	return seconds
}

// BenchmarkSlices says what a minute costs: filling it, and making the lists of 1m, 5m and 1h of so many slices.
//
//	go test ./rollups/slices -run '^$' -bench Slices -benchtime 1x -timeout 30m
func BenchmarkSlices(b *testing.B) {
	e := startEngine(b)
	ctx := context.Background()
	fillBench(b, e)
	logf("rows of counts_second: %s, of counts_minute: %s", e.Query(b, "SELECT count() FROM topk.counts_second"), e.Query(b, "SELECT count() FROM topk.counts_minute"))
	kinds := []string{"", slice.DefaultPairs}
	if *benchPairs != "all" {
		kinds = []string{*benchPairs}
	}
	for _, pairs := range kinds {
		kept, err := slice.ParsePairs(pairs)
		require.NoError(b, err)
		c := DefaultConfig()
		c.Kept = kept
		e.Query(b, "TRUNCATE TABLE topk.slice_minutes")
		e.Query(b, "TRUNCATE TABLE topk.filled_minutes")
		f, builder := NewFiller(e.conn, c), NewBuilder(e.conn, c)
		for n := range *benchMinutes { // as the worker goes on from minute to minute, with the lists of 250 slices
			until := noon.Add(-time.Duration(*benchMinutes-n-1) * time.Minute)
			began, before := time.Now(), cpu(b, e)
			_, err := f.Fill(ctx, until.Add(-time.Minute), until)
			require.NoError(b, err)
			filled, filledCPU := time.Since(began).Seconds(), cpu(b, e)-before
			if *benchMinutes-n > benchLast && n%benchLast != 0 {
				logf("pairs %q: minute %d: fill %.2f s, %.2f CPU s", pairs, n, filled, filledCPU)
				continue
			}
			var all []*Made
			wanted := map[string][]Union{}
			for _, w := range list.Live {
				w.Length = min(w.Length, time.Duration(n+1)*time.Minute)
				if len(wanted) == 0 {
					wanted["video"] = busiestOf(b, builder, w, until, 250)
				}
				made, err := builder.Build(ctx, w, until, wanted, 120)
				require.NoError(b, err)
				all = append(all, made)
			}
			require.NoError(b, f.Follow(ctx, all...))
			logf("pairs %q: minute %d: fill %.2f s, %.2f CPU s; all %.2f s, %.2f CPU s", pairs, n, filled, filledCPU, time.Since(began).Seconds(), cpu(b, e)-before)
		}
		logf("slices, items and bytes of a minute: %s", e.Query(b, fmt.Sprintf("SELECT count() / %[1]d, sum(length(items)) / %[1]d, (SELECT sum(bytes_on_disk) / %[1]d FROM system.parts WHERE active AND table = 'slice_minutes') FROM topk.slice_minutes", *benchMinutes)))
		for _, text := range []int{10, 100, 250, 1000} {
			sum, sumCPU := 0.0, 0.0
			for _, w := range list.Live {
				unions := busiestOf(b, builder, w, noon, text)
				began, before := time.Now(), cpu(b, e)
				made, err := builder.Build(ctx, w, noon, map[string][]Union{"video": unions}, 120)
				require.NoError(b, err)
				took, took2 := time.Since(began).Seconds(), cpu(b, e)-before
				sum, sumCPU = sum+took, sumCPU+took2
				certified, verified := 0, 0
				for _, l := range made.Lists {
					if l.CertifiedTo(100) {
						certified++
					}
					if l.Method == list.MethodVerified {
						verified++
					}
				}
				logf("%d lists of %s: %.2f s, %.2f CPU s; %d certified to 100, %d verified", len(made.Lists), w.Name, took, took2, certified, verified)
			}
			logf("%d slices, all windows: %.2f s, %.2f CPU s", text, sum, sumCPU)
		}
	}
}

func busiestOf(b *testing.B, builder *Builder, w list.Window, until time.Time, most int) []Union {
	b.Helper()
	found, err := builder.busiest(context.Background(), w, until, most)
	require.NoError(b, err)
	var names []string
	for _, one := range found {
		names = append(names, one.Union)
	}
	return one(names...)
}

// logf tells at once: a benchmark of minutes keeps what it logs to the end.
func logf(format string, a ...any) {
	fmt.Fprintf(os.Stderr, time.Now().Format("15:04:05 ")+format+"\n", a...)
}
