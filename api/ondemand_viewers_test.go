package api

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Items whose viewers the worker has counted, and which have too few, are in no list that is made on demand.
func itemsOfFewViewers(t *testing.T, a *asking) {
	const path = "/v1/topk?country=DE,FR&k=1000&window="
	all := a.list(path + "1h")
	require.Zero(t, all.MinViewers, "off by default")
	small := 0 // who has fewer views than viewers are asked for
	for _, item := range all.Items {
		if item.Count < 3 {
			small++
		}
	}
	two, five := all.Items[0].ItemID, all.Items[1].ItemID
	a.minutes.Query(t, fmt.Sprintf(`INSERT INTO topk.watched_items (version, item_type, item_id, minutes_since, hours_since)
		SELECT %d, 'video', arrayJoin(['%s', '%s']), toDateTime(%d, 'UTC'), toDateTime(%d, 'UTC')`,
		time.Now().UnixMicro(), two, five, noon.Add(-time.Hour).Unix(), noon.Add(-48*time.Hour).Unix()))
	for id, viewers := range map[string]int{two: 2, five: 5} {
		a.minutes.Query(t, fmt.Sprintf(`INSERT INTO topk.events_in (event_id, item_type, item_id, event_time, viewer)
			SELECT concat('%[1]s-', toString(number)), 'video', '%[1]s', '%[2]s', concat('viewer-', toString(number %% %[3]d)) FROM numbers(100)`,
			id, noon.Add(-time.Second).Format(time.DateTime), viewers))
	}
	screened := startAsking(t, a.db, a.minutes, func(c *Config) { c.Viewers.Min = 3 })
	for _, window := range []string{"1m", "5m", "1h"} {
		l := screened.list(path + window)
		require.Equal(t, 3, l.MinViewers, window)
		for _, item := range l.Items {
			require.NotEqual(t, two, item.ItemID, window)
		}
		if window == "1h" {
			require.Equal(t, 1+small, l.Hidden)
			require.Equal(t, five, l.Items[0].ItemID)
			require.Equal(t, all.Total, l.Total)
			require.Equal(t, all.Items[1].Count, l.Items[0].Count)
		}
	}
	for _, item := range screened.list("/v1/trending?country=DE,FR").Items {
		require.NotEqual(t, two, item.ItemID)
	}
}
