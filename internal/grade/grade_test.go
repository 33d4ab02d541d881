package grade

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAlerts(t *testing.T) {
	good := Measures{Recall100: .99, Shared100: .95, Overcount: 7, MaxOvercount: 7}
	for _, test := range []struct {
		name   string
		window string
		change func(*Measures)
		want   []Alert
	}{
		{"at every limit", "24h", func(*Measures) {}, []Alert{}},
		{"recall", "1h", func(m *Measures) { m.Recall100 = .98 }, []Alert{{AlertRecall100, .98, MinRecall100}}},
		{"over-count", "1h", func(m *Measures) { m.Overcount = 8 }, []Alert{{AlertOvercount, 8, 7}}},
		{"shared, of an hour", "1h", func(m *Measures) { m.Shared100 = .94 }, []Alert{}},
		{"shared, of a day", "24h", func(m *Measures) { m.Shared100 = .94 }, []Alert{{AlertShared100, .94, MinShared100Day}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := good
			test.change(&m)
			g := Grade{Window: test.window, Measures: &m}
			require.Equal(t, test.want, g.Alerts())
		})
	}
	g := Grade{Window: "1h", Reason: "there was no list"}
	require.Empty(t, g.Alerts())
}

// A newer grade of the same list replaces an older one, but one that measured nothing leaves the last measures standing.
func TestNewerGradesReplace(t *testing.T) {
	noon := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	of := func(id int64, until time.Time, window, itemType string, measured bool) Grade {
		g := Grade{ID: id, Until: until, Window: window, ItemType: itemType, Reason: "there was no list"}
		if measured {
			g.Measures, g.Reason = &Measures{}, ""
		}
		return g
	}
	shown := Show([]Grade{
		of(1, noon, "1h", "video", true),
		of(2, noon.Add(time.Hour), "1h", "video", true),
		of(3, noon, "1h", "video", true),
		of(4, noon, "1h", "video", false),
		of(5, noon, "1h", "video", false),
		of(6, noon, "1h", "hashtag", false),
		of(7, noon, "24h", "video", true),
	})
	ids, replaced := []int64{}, []bool{}
	for i := range shown {
		ids, replaced = append(ids, shown[i].ID), append(replaced, shown[i].Replaced)
		if shown[i].Replaced {
			require.Empty(t, shown[i].Standing())
		} else {
			require.Equal(t, shown[i].Alerts, shown[i].Standing())
		}
	}
	require.Equal(t, []int64{2, 6, 5, 4, 3, 1, 7}, ids)
	require.Equal(t, []bool{false, false, false, true, false, true, false}, replaced)
}

// What the API writes, topk grades reads; measures that were not taken are absent.
func TestJSON(t *testing.T) {
	version := int64(7)
	for _, g := range []Grade{
		{ID: 1, ItemType: "video", Window: "1h", ListVersion: &version, Measures: &Measures{Method: "verified", Recall100: .5}},
		{ID: 2, ItemType: "video", Window: "24h", Reason: "there was no list"},
	} {
		body, err := json.Marshal(Show([]Grade{g}))
		require.NoError(t, err)
		var read []Shown
		require.NoError(t, json.Unmarshal(body, &read))
		require.Equal(t, Show([]Grade{g}), read)
		if g.Measures == nil {
			require.NotContains(t, string(body), "recall")
		}
	}
}

func TestWindowsThatAreGraded(t *testing.T) {
	for name, want := range map[string]string{"1h": "1h", "24h": "24h", "1d": "24h"} {
		got, err := ParseWindow(name)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, name := range []string{"", "1m", "7d", "1H", "\xff"} {
		_, err := ParseWindow(name)
		require.ErrorContains(t, err, "is not one of 1h and 24h")
	}
	require.Equal(t, time.Hour, Period("1h"))
	require.Zero(t, Period("1m"))
}
