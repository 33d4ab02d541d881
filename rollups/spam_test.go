package rollups

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/list"
	"topk/internal/wire"
	"topk/rollups/slices"
)

// A wave of new ids, a million in five minutes, changes nothing about the first hundred: neither of all views nor of a slice; an item that rises
// meanwhile is found, and no state grows beyond its bound.
func TestSpamOfNewIDs(t *testing.T) {
	e := startEngines(t)
	const spamMinutes, spamIDs = 5, 200_000
	asOf := e.newDay().Add(12 * time.Hour)
	for minute := range 60 {
		at := asOf.Add(-time.Duration(60-minute) * time.Minute)
		var rows []count
		for i := range 120 {
			rows = append(rows, count{"hashtag", fmt.Sprintf("real %03d", i), "IN", at, uint64(300 - 2*i)})
		}
		if minute >= 60-spamMinutes {
			rows = append(rows, count{"hashtag", "riser", "IN", at, 4000})
		}
		e.land(t, wire.CountsTopic, e.message(rows...))
	}
	filler := slices.NewFiller(e.conn, slices.DefaultConfig())
	top := func() map[string]*list.List {
		t.Helper()
		found := map[string]*list.List{}
		for _, name := range []string{"5m", "1h"} {
			found["global "+name] = build(t, e.builder(), name, "hashtag", asOf)
			for filled := 1; filled > 0; { // what came late for minutes that were filled takes a few rounds
				var err error
				filled, err = filler.Fill(context.Background(), asOf.Add(-time.Hour), asOf)
				require.NoError(t, err)
			}
			made, err := slices.NewBuilder(e.conn, slices.DefaultConfig()).Build(context.Background(), window(t, name), asOf,
				map[string][]slices.Union{"hashtag": {{Name: "country=IN", Members: []string{"country=IN"}}}}, 120)
			require.NoError(t, err)
			found["country=IN "+name] = made.Lists[0]
		}
		return found
	}
	before := top()
	for minute := range spamMinutes {
		e.offset++
		at := asOf.Add(-time.Duration(spamMinutes-minute) * time.Minute)
		e.Query(t, fmt.Sprintf(`INSERT INTO topk.counts_in (item_type, item_id, country, second, n, ingestor, sequence, topic, partition, offset, partitions)
			SELECT 'hashtag', 'spam ' || toString(%d + number), 'IN', toDateTime(%d, 'UTC') + number %% 60, 1, 'spam@1', %d, '%s', 0, %d, 1 FROM numbers(%d)`,
			minute*spamIDs, at.Unix(), minute+1, wire.CountsTopic, e.offset, spamIDs))
	}
	after := top()
	for name, clean := range before {
		spammed := after[name]
		require.Equal(t, "riser", spammed.Items[0].ItemID, name)
		require.Equal(t, clean.Total+spamMinutes*spamIDs, spammed.Total, name)
		for i := range 100 {
			require.Equal(t, clean.Items[i].ItemID, spammed.Items[i].ItemID, "%s, position %d", name, i+1)
			require.Equal(t, clean.Items[i].Count, spammed.Items[i].Count, "%s, position %d", name, i+1)
		}
		require.Less(t, spammed.Floor, spammed.Items[99].Count, "%s: nothing else may be among them", name)
	}
	require.Equal(t, "1", e.Query(t, "SELECT max(length(items)) <= 4000 FROM topk.topk_10s"))
	require.Equal(t, "1", e.Query(t, "SELECT max(length(items)) <= 1000 + 300 FROM topk.slice_minutes"))
}
