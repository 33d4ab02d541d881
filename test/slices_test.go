package test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/embedded"
	"topk/internal/list"
)

// saleJSON is an event in three dimensions.
func saleJSON(t *testing.T, id, item, country, category string, at time.Time) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{"event_id": id, "item_type": "sale", "item_id": item, "event_time": at.Format(time.RFC3339), "country": country,
		"category": category, "language": "en"})
	require.NoError(t, err)
	return string(text)
}

// awaitSlice polls until a list of a slice satisfies ready.
func awaitSlice(t *testing.T, stack *embedded.Stack, path string, query url.Values, ready func(*list.List) bool) *list.List {
	t.Helper()
	query.Set("item_type", "sale")
	return awaitAnswer(t, stack.Endpoints().API+path+"?"+query.Encode(), time.Minute, ready)
}

// Slices, a union and what trends, from the event to the answer: made on demand first, published once they are asked for again, through the
// end of the worker and of ClickHouse. The time of events is the clock, so a minute passes when one of the next minute comes.
func TestSlicesFromEventToAnswer(t *testing.T) {
	stack := startStack(t, "event", nil)
	start := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	sent := 0
	send := func(item, country, category string, at time.Time, n int) {
		t.Helper()
		var events []string
		for range n {
			sent++
			events = append(events, saleJSON(t, fmt.Sprint("s", sent), item, country, category, at))
		}
		require.Equal(t, n, postEvents(t, stack, events...).Accepted)
	}
	minute := func(n int) time.Time { return start.Add(time.Duration(n) * time.Minute) }
	for i, country := range []string{"DE", "FR", "IT", "US", ""} {
		send("every", country, "music", start.Add(10*time.Second), 10)
		send("of "+country+".", country, "фильм", start.Add(20*time.Second), 20+i)
	}
	send("tick", "US", "music", minute(1).Add(5*time.Second), 1) // the minute before is over
	until := func(n int) func(*list.List) bool {
		return func(l *list.List) bool { return l.AsOf.Equal(minute(n)) }
	}

	published := awaitSlice(t, stack, "/v1/topk", url.Values{"country": {"FR"}, "window": {"5m"}},
		func(l *list.List) bool { return until(1)(l) && *l.Precomputed })
	require.Equal(t, uint64(31), published.Total)
	require.Equal(t, "of FR.", published.Items[0].ItemID)
	require.True(t, published.Certified)
	require.Zero(t, published.MaxOvercount)
	pair := awaitSlice(t, stack, "/v1/topk", url.Values{"country": {"IT"}, "category": {"фильм"}, "window": {"1h"}}, until(1))
	require.Equal(t, uint64(22), pair.Total)
	unknown := awaitSlice(t, stack, "/v1/topk", url.Values{"country": {""}, "window": {"1h"}}, until(1))
	require.Equal(t, uint64(34), unknown.Total)

	union := url.Values{"region": {"eu"}, "window": {"5m"}}
	made := awaitSlice(t, stack, "/v1/topk", union, until(1))
	require.False(t, *made.Precomputed)
	require.Equal(t, uint64(30+20+21+22), made.Total)
	require.Equal(t, "every", made.Items[0].ItemID)
	require.Equal(t, uint64(30), made.Items[0].Count)
	trending := url.Values{"country": {"DE,FR"}}
	made = awaitSlice(t, stack, "/v1/trending", trending, until(1))
	require.False(t, *made.Precomputed)
	require.Equal(t, uint64(21), made.Items[0].Trend.Views)
	nobody := awaitSlice(t, stack, "/v1/topk", url.Values{"category": {"made up"}}, func(l *list.List) bool { return l.Reason != "" })
	require.Empty(t, nobody.Items)

	// The worker dies, and ClickHouse. Meanwhile more views come, and the union is asked for again.
	for _, query := range []url.Values{union, {"country": {"DE,FR"}, "window": {"5m"}}} {
		awaitSlice(t, stack, "/v1/topk", query, func(*list.List) bool { return true })
	}
	awaitSlice(t, stack, "/v1/trending", trending, func(*list.List) bool { return true })
	require.NoError(t, stack.Signal(embedded.Rollup, syscall.SIGKILL))
	send("every", "IT", "music", minute(1).Add(30*time.Second), 5)
	require.NoError(t, stack.Signal(embedded.ClickHouse, syscall.SIGKILL))
	send("every", "FR", "music", minute(1).Add(40*time.Second), 5)
	send("tick", "US", "music", minute(6).Add(5*time.Second), 1)
	require.NoError(t, stack.Restart(t.Context(), embedded.ClickHouse))
	require.NoError(t, stack.Restart(t.Context(), embedded.Rollup))

	got := awaitSlice(t, stack, "/v1/topk", union, func(l *list.List) bool { return until(6)(l) && *l.Precomputed })
	require.Equal(t, uint64(10), got.Total, "the first minute has left the window")
	got = awaitSlice(t, stack, "/v1/trending", trending, func(l *list.List) bool { return until(6)(l) && *l.Precomputed })
	require.Equal(t, "every", got.Items[0].ItemID)
	require.Equal(t, uint64(25), got.Items[0].Trend.Views)
	all := awaitList(t, stack, "sale", "1h", 100, time.Minute, func(l *list.List) bool { return !l.AsOf.Before(minute(6)) })
	require.Equal(t, uint64(sent-1), all.Total, "all but the last, which the clock of events has not passed")

	for query, status := range map[string]int{"country=XX": http.StatusBadRequest, "country=de": http.StatusBadRequest, "language=english": http.StatusBadRequest,
		"region=atlantis": http.StatusBadRequest, "category=music&language=en": http.StatusBadRequest, "country=DE&min_count=-1": http.StatusBadRequest} {
		response, err := http.Get(stack.Endpoints().API + "/v1/topk?item_type=sale&" + query)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, status, response.StatusCode, query)
	}
}
