package slices

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"topk/internal/list"
)

// testTypes: item types are a client's text. Thousands of them leave the lists of one that is viewed as they are, and only the busiest have slices;
// what is said of others is true.
func testTypes(t *testing.T, e *engine) {
	const madeUp = 5000
	p := startLists(t)
	m := NewMaker(e.conn, config(), quiet(), prometheus.NewRegistry())
	views := []view{{"video", "a", "DE", "music", "de", noon.Add(-30 * time.Second), 9}, {"video", "b", "FR", "music", "fr", noon.Add(-90 * time.Second), 7}}
	for n := range 98 {
		views = append(views, view{fmt.Sprintf("busy%02d", n), "x", "DE", "music", "de", noon.Add(-30 * time.Second), 4})
	}
	for n := range madeUp {
		views = append(views, view{fmt.Sprintf("made_up%04d", n), "x", "DE", "music", "de", noon.Add(-30 * time.Second), 1})
	}
	for n := range madeUp { // a closed hour
		views = append(views, view{fmt.Sprintf("made_up%04d", n), "x", "DE", "music", "de", noon.Add(-5 * time.Hour), 1 + uint64(n/(madeUp-1))})
	}
	views = append(views, view{"video", "a", "DE", "music", "de", noon.Add(-5 * time.Hour), 3})
	e.both(t, views...)
	recountAll(t, e.recounter(), noon)
	for _, asked := range [][2]string{{"video", "24h"}, {"made_up0000", "24h"}, {"made_up4999", "24h"}, {"made_up4998", "1h"}} {
		p.exec(t, "INSERT INTO asked_slices VALUES ($1, $2, 'country=DE', now())", asked[0], asked[1])
	}
	require.NoError(t, m.Round(t.Context(), p.do, noon, allKept))
	require.Equal(t, "100", e.Query(t, "SELECT uniqExact(item_type) FROM topk.slice_minutes"))
	require.Equal(t, "100", e.Query(t, "SELECT uniqExact(item_type) FROM topk.slice_heads WHERE slice != ''"))
	found := p.current(t)
	types := map[string]bool{}
	for key, l := range found {
		types[key.ItemType] = true
		if key.Window != list.TrendingWindow {
			checkClaims(t, l, e.truth(key.ItemType, one(key.Slice)[0], l.From, l.AsOf))
		}
	}
	require.Less(t, len(types), 105, "the busiest, and those asked for")
	day := func(itemType string) *list.List {
		return found[list.Key{ItemType: itemType, Window: "24h", Slice: "country=DE"}]
	}
	require.Equal(t, uint64(12), day("video").Items[0].Count)
	require.True(t, day("video").Certified)
	require.NotNil(t, day("made_up0000"))
	other := found[list.Key{ItemType: "made_up4998", Window: "1h", Slice: "country=DE"}]
	require.Empty(t, other.Items)
	require.False(t, other.Certified)
	require.Equal(t, uint64(1), other.Floor)
	require.NotEmpty(t, other.Reason)
}
