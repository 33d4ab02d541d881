package test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/embedded"
	"topk/internal/apiclient"
	"topk/internal/grade"
	"topk/internal/list"
	"topk/internal/truth"
)

const (
	nasaEvents  = "testdata/nasa_http/events.csv.gz"
	nasaSliding = "testdata/nasa_http/truth_sliding_3600s_step900s.csv"
)

// The recorded day of NASA's web server, replayed a quarter of an hour at a time: the served 1h list is the published
// truth of that window at every step, and its last one is the truth of the last hour. So is the chart of the day, in two zones. Once
// the day is over its 24h list is the truth of the day, its chart is final, and each list of an hour's or the day's end has full marks.
func TestReplayEqualsPublishedTruthAtEveryStep(t *testing.T) {
	// A replay waits for its flush at every step. Each flush costs the machine something, so it is not shorter.
	stack := startStack(t, "event", map[string][]string{
		embedded.Ingest: {"--flush-interval", "250ms"}, embedded.Rollup: {"--chart-zones", "UTC,Asia/Kolkata", "--chart-cap", "0"},
	})
	windows, err := truth.ReadSliding(nasaSliding)
	require.NoError(t, err)
	require.NotEmpty(t, windows)
	day, err := truth.ReadEvents(nasaEvents)
	require.NoError(t, err)

	from := time.Time{}
	replay := func(until time.Time) {
		args := []string{"replay", nasaEvents, "--ingest", stack.Endpoints().Ingest, "--item-type", "page", "--clock", "event",
			"--until", until.Format(time.RFC3339), "--watermark", until.Format(time.RFC3339), "--strict"}
		if !from.IsZero() {
			args = append(args, "--from", from.Format(time.RFC3339))
		}
		topk(t, args...)
		from = until
	}
	for _, window := range windows {
		replay(window.To)
		got := awaitList(t, stack, "page", "1h", 1000, 2*time.Minute, func(l *list.List) bool { return l.AsOf.Equal(window.To) })
		checkWindow(t, got, window, day)
	}
	kolkata := time.FixedZone("", 5*3600+1800)
	for name, from := range map[string]time.Time{
		"UTC": time.Date(1995, 8, 1, 0, 0, 0, 0, time.UTC), "Asia/Kolkata": time.Date(1995, 8, 2, 0, 0, 0, 0, kolkata),
	} {
		checkChart(t, stack, name, from, windows[len(windows)-1].To, day, true)
	}

	midnight := time.Date(1995, 8, 2, 0, 0, 0, 0, time.UTC)
	replay(midnight)
	got := awaitList(t, stack, "page", "24h", 1000, 2*time.Minute, func(l *list.List) bool { return l.AsOf.Equal(midnight) })
	require.Equal(t, midnight.Add(-24*time.Hour), got.From)
	whole := truth.Top(truth.In(day, got.From, midnight))
	require.Equal(t, "", truth.Difference(whole[:min(len(whole), list.MaxK)], items(got)))
	replay(midnight.Add(11 * time.Minute))
	checkChart(t, stack, "UTC", midnight.Add(-24*time.Hour), midnight, day, false)
	checkGrades(t, stack, windows[0].To, midnight)
}

// checkGrades waits for a grade of the list of each end of an hour since first, and of the day's end, and finds nothing wrong with them.
func checkGrades(t *testing.T, stack *embedded.Stack, first, midnight time.Time) {
	t.Helper()
	type end struct {
		window string
		until  time.Time
	}
	missing := map[end]bool{{grade.Day, midnight}: true}
	for until := first.Truncate(time.Hour).Add(time.Hour); !until.After(first.Add(12 * time.Hour)); until = until.Add(time.Hour) {
		missing[end{"1h", until}] = true
	}
	client := apiclient.New(stack.Endpoints().API)
	require.Eventually(t, func() bool {
		graded, err := client.Grades(t.Context(), apiclient.GradesQuery{ItemType: "page", Since: first, Limit: 1000})
		if err != nil {
			return false
		}
		for _, g := range graded.Grades {
			if !missing[end{g.Window, g.Until}] {
				continue
			}
			require.Empty(t, g.Reason, "%s to %s", g.Window, g.Until)
			require.Equal(t, []float64{1, 1, 1}, []float64{g.Recall100, g.Recall1000, g.Shared100}, "%s to %s", g.Window, g.Until)
			require.Zero(t, g.Overcount)
			require.Zero(t, g.Displacement)
			require.Empty(t, g.Alerts)
			delete(missing, end{g.Window, g.Until})
		}
		return len(missing) == 0
	}, time.Minute, 200*time.Millisecond, "grades are missing")
}

// checkChart compares the chart of a day with a count by brute force, once it has come to asOf.
func checkChart(t *testing.T, stack *embedded.Stack, zone string, from, asOf time.Time, day []truth.Event, provisional bool) {
	t.Helper()
	url := fmt.Sprintf("%s/v1/charts/day/%s?item_type=page&k=1000&tz=%s", stack.Endpoints().API, from.Format(time.DateOnly), zone)
	var got list.Chart
	require.Eventually(t, func() bool {
		return fetch(url, &got) == nil && got.AsOf.Equal(asOf) && got.Provisional == provisional
	}, 2*time.Minute, 50*time.Millisecond, "%s", url)
	require.Equal(t, from.UTC(), got.From)
	var charted []truth.Item
	for _, item := range got.Items {
		charted = append(charted, truth.Item{ID: item.ItemID, Count: int(item.Count)})
	}
	counted := truth.In(day, from, asOf)
	require.Equal(t, uint64(len(counted)), got.Total)
	want := truth.Top(counted)
	require.Equal(t, "", truth.Difference(want[:min(len(want), list.MaxK)], charted), "%s", zone)
}

// checkWindow compares a served list with the published truth of its window, and with a count by brute force, which also
// knows the order inside ties and everything below the published positions.
func checkWindow(t *testing.T, got *list.List, window truth.Window, day []truth.Event) {
	t.Helper()
	require.Equal(t, window.From, got.From.UTC())
	require.Equal(t, uint64(window.Events), got.Total)
	require.Equal(t, list.MethodVerified, got.Method)
	require.Equal(t, "", truth.Difference(truth.Top(truth.In(day, window.From, window.To)), items(got)), "the window to %s", window.To)
	require.Equal(t, window.Distinct, len(got.Items))
	for i, want := range window.Top {
		require.Equal(t, uint64(want.Count), got.Items[i].Count, "count at position %d of the window to %s", i+1, window.To)
	}
	require.Zero(t, got.MaxOvercount)
	require.True(t, got.Certified)
}

// items are the names and counts of a list, in its order.
func items(l *list.List) []truth.Item {
	var all []truth.Item
	for _, item := range l.Items {
		all = append(all, truth.Item{ID: item.ItemID, Count: int(item.Count)})
	}
	return all
}
