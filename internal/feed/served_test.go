package feed_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/feed"
	"topk/internal/list"
)

// server is an API that counts what a recorder has: exactly, unless spoil changes a list.
type server struct {
	ingestor *recorder
	spoil    func(*list.List)
}

func (s *server) start(t *testing.T) string {
	t.Helper()
	served := httptest.NewServer(s)
	t.Cleanup(served.Close)
	return served.URL
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	window, err := list.ParseWindow(r.FormValue("window"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	asOf := time.Now().UTC().Truncate(time.Second).Add(time.Second)
	l := &list.List{ItemType: r.FormValue("item_type"), Window: window.Name, From: asOf.Add(-window.Length), AsOf: asOf, Certified: true}
	s.ingestor.inspect(func() { s.count(l) })
	if s.spoil != nil {
		s.spoil(l)
	}
	etag := fmt.Sprintf(`"%d-%d"`, asOf.Unix(), l.Total)
	w.Header().Set("ETag", etag)
	if r.Header.Get("If-None-Match") == etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_ = json.NewEncoder(w).Encode(l)
}

func (s *server) count(l *list.List) {
	counts := map[string]uint64{}
	seen := map[string]bool{}
	for _, e := range s.ingestor.events {
		var millis int64
		if json.Unmarshal(e.Time, &millis) != nil || e.ItemType != l.ItemType || seen[e.ID] {
			continue
		}
		seen[e.ID] = true
		if at := time.UnixMilli(millis); !at.Before(l.From) && at.Before(l.AsOf) {
			counts[e.ItemID]++
			l.Total++
		}
	}
	for id, n := range counts {
		l.Items = append(l.Items, list.Item{ItemID: id, Count: n, Lower: n, Upper: n})
	}
	slices.SortFunc(l.Items, func(a, b list.Item) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.ItemID, b.ItemID))
	})
	l.Items = l.Items[:min(len(l.Items), 1000)]
	for i := range l.Items {
		l.Items[i].Position = i + 1
	}
}

func TestLoadVerifiesTheClaimsOfLists(t *testing.T) {
	for name, test := range map[string]struct {
		spoil  func(*list.List)
		faults string
	}{
		"a right list": {nil, ""},
		"an over-count within the bound": {func(l *list.List) {
			l.Items[0].Count += 5
			l.Items[0].Upper += 5
			l.MaxOvercount = 5
		}, ""},
		"an over-count beyond the bound": {func(l *list.List) {
			l.Items[0].Count += 6
			l.Items[0].Upper += 6
			l.MaxOvercount = 5
		}, "max_overcount 5"},
		"an under-count":                       {func(l *list.List) { l.Items[0].Count-- }, "max_overcount 0"},
		"an interval without the truth":        {func(l *list.List) { l.Items[3].Lower++ }, "is not within"},
		"an item left out of a certified list": {func(l *list.List) { l.Items = slices.Delete(l.Items, 2, 3) }, "left out"},
		"an item left out of another list": {func(l *list.List) {
			l.Items = slices.Delete(l.Items, 2, 3)
			l.Certified = false
		}, ""},
		"a wrong order": {func(l *list.List) { l.Items[0], l.Items[9] = l.Items[9], l.Items[0] }, "out of order"},
	} {
		t.Run(name, func(t *testing.T) {
			ingestor := &recorder{}
			cfg := smallLoad(ingestor.start(t))
			cfg.API = (&server{ingestor: ingestor, spoil: test.spoil}).start(t)
			cfg.Verify, cfg.Events, cfg.Duplicates = true, 1000, 0.1
			report, err := feed.Load(t.Context(), cfg)
			require.NoError(t, err)
			require.Len(t, report.Verified, 2)
			var out strings.Builder
			require.NoError(t, report.Write(&out))
			for _, v := range report.Verified {
				require.NotZero(t, v.Checked)
				require.Zero(t, v.Unchecked)
				require.Equal(t, test.faults == "", v.Faults == 0, "%v", v.Examples)
				require.Contains(t, out.String(), test.faults)
			}
		})
	}
}

func TestLoadDoesNotVerifyWithoutTheTruth(t *testing.T) {
	ingestor := &recorder{before: func(w http.ResponseWriter, _ *http.Request, request, _ int) bool {
		if request > 5 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		return request > 5
	}}
	cfg := smallLoad(ingestor.start(t))
	cfg.API = (&server{ingestor: ingestor}).start(t)
	cfg.Verify, cfg.RetryFor = true, 50*time.Millisecond
	_, err := feed.Load(t.Context(), cfg)
	require.ErrorContains(t, err, "the truth is not known")
}

func TestLoadDoesNotVerifyWithAListOfAnotherTime(t *testing.T) {
	ingestor := &recorder{}
	cfg := smallLoad(ingestor.start(t))
	cfg.API = (&server{ingestor: ingestor, spoil: func(l *list.List) {
		*l = list.List{ItemType: l.ItemType, Window: l.Window, From: l.AsOf.Add(time.Minute), AsOf: l.AsOf.Add(2 * time.Minute)}
	}}).start(t)
	cfg.Verify = true
	_, err := feed.Load(t.Context(), cfg)
	require.ErrorContains(t, err, "past the whole load already")
}

func TestProbeMeasuresFreshness(t *testing.T) {
	const delay = 200 * time.Millisecond
	ingestor := &recorder{}
	cfg := smallLoad(ingestor.start(t))
	shown := map[string]time.Time{} // the server serves one request at a time here: the probe polls alone
	cfg.API = (&server{ingestor: ingestor, spoil: func(l *list.List) {
		for _, item := range l.Items {
			if shown[item.ItemID].IsZero() {
				shown[item.ItemID] = time.Now()
			}
		}
		l.Items = slices.DeleteFunc(l.Items, func(item list.Item) bool { return time.Since(shown[item.ItemID]) < delay })
		l.Total = uint64(len(l.Items))
	}}).start(t)
	cfg.Probe, cfg.ProbeEvery, cfg.Rate, cfg.Events = true, 50*time.Millisecond, 500, 500
	report, err := feed.Load(t.Context(), cfg)
	require.NoError(t, err)
	require.EqualValues(t, 500, report.Accepted, "probes are not part of the load")
	require.Greater(t, report.Probe.Sent, 5)
	require.Zero(t, report.Probe.Lost+report.Probe.Rejected)
	for _, d := range []feed.Durations{report.Probe.FromEvent, report.Probe.FromAnswer} {
		require.EqualValues(t, report.Probe.Sent, d.Count)
		require.Greater(t, d.P50, 0.9*delay.Seconds())
		require.LessOrEqual(t, d.P50, d.P99)
		require.LessOrEqual(t, d.P99, d.Max)
	}
}
