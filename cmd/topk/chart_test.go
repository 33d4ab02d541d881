package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/list"
	"topk/internal/zone"
	"topk/rollups/charts"
)

// A day without views is told from one whose charts are as they were.
func TestChartSaysWhatCameOfIt(t *testing.T) {
	day, err := zone.ParseDay("2026-11-29")
	require.NoError(t, err)
	from, until := day.Bounds(time.UTC)
	final := "2026-11-29 in UTC, 2026-11-29T00:00:00Z to 2026-11-30T00:00:00Z: final\n"
	provisional := "2026-11-29 in UTC, 2026-11-29T00:00:00Z to 2026-11-30T00:00:00Z: provisional, as of 2026-11-29T15:00:00Z\n"
	for want, result := range map[string]charts.Result{
		final + "there were no views\n":          {},
		final + "nothing has changed\n":          {Types: 1},
		provisional + "there are no views yet\n": {Provisional: true},
		provisional + "video: revision 2, 1 items of 7 views\n": {
			Provisional: true, Types: 1, Charts: []*list.Chart{{ItemType: "video", Revision: 2, Total: 7, Items: make([]list.ChartItem, 1)}},
		},
	} {
		result.From, result.Until, result.AsOf = from, until, from.Add(15*time.Hour)
		var out bytes.Buffer
		tellCharts(&out, day, "UTC", &result)
		require.Equal(t, want, out.String())
	}
}
