package feed_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/event"
	"topk/internal/feed"
)

// judge rejects what the contract rejects, as far as this recorder can see it.
func judge(e sentEvent) (field, reason string) {
	if e.broken != "" {
		return "", e.broken
	}
	at := &event.Problem{Field: "event_time", Reason: "cannot be read"}
	var millis int64
	var text string
	switch {
	case json.Unmarshal(e.Time, &millis) == nil:
		at = event.CheckTime(millis)
	case json.Unmarshal(e.Time, &text) == nil:
		if parsed, err := time.Parse(time.RFC3339Nano, text); err == nil && parsed.Year() > 1971 {
			at = nil
		}
	}
	itemType := e.ItemType
	if itemType == "" {
		itemType = event.DefaultItemType
	}
	for _, p := range []*event.Problem{
		at, event.CheckID([]byte(e.ID)), event.CheckItemType([]byte(itemType)), event.CheckItemID([]byte(e.ItemID)),
		event.CheckCountry([]byte(e.Country)), event.CheckCategory([]byte(e.Category)), event.CheckLanguage([]byte(e.Language)),
		event.CheckViewer([]byte(e.Viewer)),
	} {
		if p != nil {
			return p.Field, p.Reason
		}
	}
	return "", ""
}

func smallLoad(ingest string) feed.LoadConfig {
	return feed.LoadConfig{Ingest: ingest, Rate: 20_000, Events: 5000, Items: 1000, Zipf: 1.1, Batch: 100, Connections: 4, Seed: 7,
		RetryFor: time.Minute}
}

func TestLoadSaysExactlyWhatWasAccepted(t *testing.T) {
	ingestor := &recorder{judge: judge}
	cfg := smallLoad(ingestor.start(t))
	cfg.ItemTypes = []string{"video", "tag"}
	cfg.ViralItem, cfg.ViralShare = "hit \"1\"", 0.1
	cfg.LateShare, cfg.LateBy = 0.1, time.Minute
	cfg.Duplicates, cfg.SpamRate = 0.1, 2000
	report, err := feed.Load(t.Context(), cfg)
	require.NoError(t, err)
	require.EqualValues(t, 5000, report.Sent)
	require.EqualValues(t, 5000, report.Accepted)
	require.Zero(t, report.GoodRejected+report.BadRejected+report.BadAccepted+report.Unknown)

	distinct := map[sentIdentity]int{}
	counts := map[[2]string]uint64{}
	spam, late := uint64(0), uint64(0)
	for _, e := range ingestor.events {
		id := sentIdentity{e.ID, e.ItemType, e.ItemID, string(e.Time)}
		if distinct[id]++; distinct[id] > 1 {
			continue
		}
		counts[[2]string{e.ItemType, e.ItemID}]++
		if strings.HasPrefix(e.ItemID, "spam-") {
			spam++
		}
		var millis int64
		require.NoError(t, json.Unmarshal(e.Time, &millis))
		if time.UnixMilli(millis).Before(report.Started.Add(-30 * time.Second)) {
			late++
		}
	}
	require.EqualValues(t, len(distinct), report.Distinct)
	require.Equal(t, report.Accepted-report.Distinct, report.Duplicates)
	require.Equal(t, spam, report.Spam)
	require.Equal(t, late, report.Late)
	require.Equal(t, counts[[2]string{"video", "hit \"1\""}], report.Viral)
	for name, got := range map[string]uint64{"duplicates": report.Duplicates, "late": report.Late, "viral": report.Viral, "spam": report.Spam} {
		require.InDelta(t, 0.1*5000, float64(got), 100, name)
	}
	require.Len(t, report.Top, 10)
	for i, item := range report.Top {
		require.Equal(t, counts[[2]string{item.ItemType, item.ItemID}], item.Count)
		counts[[2]string{item.ItemType, item.ItemID}] = 0
		if i > 0 {
			require.LessOrEqual(t, item.Count, report.Top[i-1].Count)
		}
	}
	for item, n := range counts {
		require.LessOrEqual(t, n, report.Top[9].Count, item)
	}
}

type sentIdentity struct{ id, itemType, itemID, time string }

func TestLoadSendsBadEventsOfEveryKind(t *testing.T) {
	ingestor := &recorder{judge: judge}
	cfg := smallLoad(ingestor.start(t))
	cfg.BadShare = 0.5
	report, err := feed.Load(t.Context(), cfg)
	require.NoError(t, err)
	require.InDelta(t, 2500, float64(report.BadRejected), 200)
	require.Zero(t, report.BadAccepted+report.GoodRejected)
	require.Equal(t, report.Sent, report.Accepted+report.BadRejected)
	require.Equal(t, report.Accepted, report.Distinct)
	require.Greater(t, len(report.Reasons), 12)
}

func TestLoadNoticesAnIngestorThatTakesAnything(t *testing.T) {
	ingestor := &recorder{}
	cfg := smallLoad(ingestor.start(t))
	cfg.BadShare = 0.5
	report, err := feed.Load(t.Context(), cfg)
	require.NoError(t, err)
	require.InDelta(t, 2500, float64(report.BadAccepted), 200)
	require.Equal(t, report.Accepted, report.Distinct+report.BadAccepted)
	var out strings.Builder
	require.NoError(t, report.Write(&out))
	require.Contains(t, out.String(), "FAULT")
}

func TestLoadRepeatsItselfBySeed(t *testing.T) {
	items := func(seed uint64, batch int) []string {
		ingestor := &recorder{}
		cfg := smallLoad(ingestor.start(t))
		cfg.Seed, cfg.Batch, cfg.Connections = seed, batch, 1
		cfg.ViralShare, cfg.Duplicates, cfg.LateShare, cfg.LateBy = 0.1, 0.1, 0.1, time.Second
		_, err := feed.Load(t.Context(), cfg)
		require.NoError(t, err)
		out := make([]string, len(ingestor.events))
		for i, e := range ingestor.events {
			out[i] = e.ItemID + e.Country + e.Category + e.Language + e.Viewer
		}
		return out
	}
	first := items(1, 100)
	require.Equal(t, first, items(1, 37), "the size of requests changes nothing")
	require.NotEqual(t, first, items(2, 100))
}

func TestLoadTriesAgainAndStaysExact(t *testing.T) {
	ingestor := &recorder{before: func(w http.ResponseWriter, _ *http.Request, request, _ int) bool {
		if request%3 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		return request%3 == 0
	}}
	report, err := feed.Load(t.Context(), smallLoad(ingestor.start(t)))
	require.NoError(t, err)
	require.EqualValues(t, 5000, report.Accepted)
	require.Len(t, ingestor.events, 5000)
	require.NotZero(t, report.Retries)
}

func TestLoadCountsWhatItGaveUp(t *testing.T) {
	ingestor := &recorder{before: func(w http.ResponseWriter, _ *http.Request, request, _ int) bool {
		if request > 20 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		return request > 20
	}}
	cfg := smallLoad(ingestor.start(t))
	cfg.RetryFor = 50 * time.Millisecond
	report, err := feed.Load(t.Context(), cfg)
	require.NoError(t, err)
	require.EqualValues(t, 2000, report.Accepted)
	require.EqualValues(t, 3000, report.Unknown)
}

func TestLoadWithoutAnIngestorFails(t *testing.T) {
	cfg := smallLoad("http://127.0.0.1:1")
	cfg.RetryFor = 50 * time.Millisecond
	_, err := feed.Load(t.Context(), cfg)
	require.ErrorContains(t, err, "gave up after")
}

func TestLoadSaysWhenItCannotKeepUp(t *testing.T) {
	slow := make(chan struct{})
	var once sync.Once
	ingestor := &recorder{before: func(_ http.ResponseWriter, r *http.Request, _, _ int) bool {
		select {
		case <-slow:
		case <-r.Context().Done():
		}
		return false
	}}
	time.AfterFunc(2500*time.Millisecond, func() { once.Do(func() { close(slow) }) })
	cfg := smallLoad(ingestor.start(t))
	cfg.Rate, cfg.Events, cfg.Duration = 1000, 0, 3*time.Second
	report, err := feed.Load(t.Context(), cfg)
	require.NoError(t, err)
	require.NotZero(t, report.Skipped)
	require.InDelta(t, 3000, float64(report.Sent+report.Skipped), 300)
	require.Greater(t, report.Post.Max, 2.0, "the wait of a request that was due counts")
	require.LessOrEqual(t, ingestor.mostAtOnce, 4)
}

func TestLoadConfigReportsEveryMistake(t *testing.T) {
	cfg := feed.LoadConfig{Ingest: "nowhere", Rate: -1, Duration: -1, Items: 1 << 40, Zipf: 11, Batch: -1, Connections: -1, RetryFor: -1,
		ViralShare: 0.6, LateShare: 2, Duplicates: 0.6, BadShare: -0.1, ItemTypes: []string{"Video", "probe"}, ViralItem: "a\x00",
		Probe: true, ProbeEvery: 1}
	err := cfg.Validate()
	for _, field := range []string{"ingest", "api", "rate", "duration", "items", "zipf", "batch", "connections", "retry-for", "late-share",
		"bad-share", "late-by", "item-types[0]", "item-types[1]", "viral-item", "probe-every", "viral-share, duplicate-share and bad-share"} {
		require.ErrorContains(t, err, field+": ")
	}
}
