package slices

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/list"
)

// unionCountries are as many as the European Union has.
const unionCountries = 27

// held is, of a country and a time, the slice and a thousand items with their views, as a country of many views has them in every minute and
// hour: a third of the items are of all countries, the others come and go.
const held = `concat('country=C', char(65 + country)) AS slice,
	arrayMap(i -> concat('video_', toString(if(i % 3 = 0, i, 1000 + cityHash64(i, country, at) % 20000))), range(1000)) AS items,
	arrayMap(i -> toUInt64(2 + intDiv(100000, i + 1)), range(1000)) AS counts`

// fillUnion writes what a day and an hour of the countries come to, without the events.
func fillUnion(b *testing.B, e *engine) {
	b.Helper()
	open := noon.Add(-time.Hour)
	times := func(from time.Time, step, n int) string {
		return fmt.Sprintf(`FROM (SELECT toDateTime(%d, 'UTC') + %d * number AS at FROM numbers(%d)) AS t, (SELECT number AS country FROM numbers(%d)) AS c`,
			from.Unix(), step, n, unionCountries)
	}
	e.Query(b, `INSERT INTO topk.slice_minutes (item_type, slice, dimensions, minute, version, views, items, counts, floor)
		WITH `+held+` SELECT 'video', slice, 1, at, 1, arraySum(counts), items, counts, 2 `+times(open, 60, 60))
	e.Query(b, `INSERT INTO topk.filled_minutes (minute, item_type, version, views, held)
		SELECT minute, item_type, version, sum(views), sum(views) FROM topk.slice_minutes GROUP BY ALL`)
	e.Query(b, `INSERT INTO topk.landed (item_type, second, ingestor, n) SELECT item_type, minute, 'bench@1', views FROM topk.filled_minutes`)
	e.Query(b, `INSERT INTO topk.slice_heads (slice, dimensions, part, bucket, version, item_type, views, items, counts, floor)
		WITH `+held+` SELECT slice, 1, 'hour', at, 1, 'video', arraySum(counts), items, counts, 2 `+times(open.Add(-24*time.Hour), 3600, 24))
	e.Query(b, `INSERT INTO topk.slice_heads (slice, dimensions, part, bucket, version, item_type)
		SELECT '', arrayJoin([1, 2, 3, 4, 5]), 'hour', bucket, 1, '' FROM (SELECT DISTINCT bucket FROM topk.slice_heads)`)
	e.Query(b, `INSERT INTO topk.recounts (hour, version, events, distinct_events, why) SELECT bucket, 1, sum(views), sum(views), 'closed' FROM topk.slice_heads GROUP BY bucket`)
}

// BenchmarkUnion says how long the list of a union of 27 countries takes that nobody has asked for before.
//
//	go test ./rollups/slices -run '^$' -bench Union -benchtime 1x
func BenchmarkUnion(b *testing.B) {
	e := startEngine(b)
	ctx := context.Background()
	c := DefaultConfig()
	c.Hasty = true
	fillUnion(b, e)
	var members []string
	for n := range unionCountries {
		members = append(members, "country=C"+string(rune('A'+n)))
	}
	union := map[string][]Union{"video": {{Name: "union", Members: members}}}
	builder := NewBuilder(e.conn, c)
	for _, stored := range []int{storedItems, list.StoredItems} {
		for _, w := range []string{"5m", "1h", "24h"} {
			var took []time.Duration
			for range 100 {
				began := time.Now()
				made, err := builder.Build(ctx, window(b, w), noon, union, stored)
				require.NoError(b, err)
				require.Len(b, made.Lists, 1)
				require.NotEmpty(b, made.Lists[0].Items)
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			logf("%d items of %s: p50 %s, p99 %s", stored, w, took[len(took)/2], took[len(took)*99/100])
		}
	}
}
