package recount

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Heads are the most viewed items of the busiest types of a partition, over all dimensions, and bound every other item.
func testHeads(t *testing.T, e *engine) {
	const types, items = HeadTypes + 5, leastHead + 100
	insert := func(rows string) {
		e.Query(t, fmt.Sprintf("INSERT INTO topk.counts_hourly (item_type, item_id, hour, version, country, n) SELECT %s", rows))
	}
	hour := fmt.Sprintf("toDateTime('%s', 'UTC')", monday.Format(time.DateTime))
	insert(fmt.Sprintf("'video', concat('v', leftPad(toString(number %% %[1]d), 4, '0')), %[2]s, 5, if(number < %[1]d, 'IN', 'DE'), 10 + 10 * (number %% %[1]d) FROM numbers(2 * %[1]d)", items, hour))
	insert(fmt.Sprintf("concat('t', toString(number)), 'a', %s, 5, '', 1 + intDiv(number, 10) FROM numbers(%d)", hour, types-1))
	part := Part{Grain: "hour", Bucket: monday.Unix(), Version: 5}
	read := func(keep int, types ...string) map[string]Head {
		t.Helper()
		heads, err := ReadHeads(t.Context(), e.conn, []Part{part, {"hour", monday.Unix(), 6}, {"day", monday.Unix(), 5}}, types, keep, askBudget)
		require.NoError(t, err)
		found := map[string]Head{}
		for _, h := range heads {
			require.Equal(t, part, h.Part)
			found[h.ItemType] = h
		}
		require.Len(t, found, len(heads), "each type once")
		return found
	}
	require.Empty(t, read(9, "video"))
	e.Query(t, fmt.Sprintf("INSERT INTO topk.exact_heads (part, bucket, version, item_type, views) VALUES ('hour', %s, 5, 't5', 1)", hour))
	require.Empty(t, read(9, "t5"), "whoever began it was cut off")
	e.Query(t, "TRUNCATE TABLE topk.exact_heads")
	for range 2 { // the second changes nothing
		require.NoError(t, FillHeads(t.Context(), e.conn, []Part{part}, askBudget))
		heads := read(leastHead, "video", "t999")
		require.Len(t, heads, HeadTypes)
		require.NotContains(t, heads, "t9", "five of the ten types with a view are left out")
		video := heads["video"]
		require.EqualValues(t, 10*items*(items+1), video.Views)
		require.Greater(t, video.Views, uint64(largePart), "it is grouped by itself")
		require.Len(t, video.Items, leastHead, "there are many types")
		require.Equal(t, Count{fmt.Sprintf("v%04d", items-1), 20 * items}, video.Items[0])
		require.EqualValues(t, 20*(items-leastHead), video.Floor)
		require.Equal(t, Head{part, "t999", 100, []Count{{"a", 100}}, 0}, heads["t999"])
		require.Equal(t, Head{part, "t998", 100, nil, 100}, heads["t998"], "nobody asked for its items")

		fewer := read(3, "video")["video"]
		require.Equal(t, video.Items[:3], fewer.Items)
		require.Equal(t, video.Items[3].Views, fewer.Floor)
	}
	require.NoError(t, FillHeads(t.Context(), e.conn, []Part{{Grain: "total", Version: 9}}, askBudget), "an empty partition")
}
