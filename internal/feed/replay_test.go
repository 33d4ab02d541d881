package feed_test

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/feed"
)

const nasa = "../../test/testdata/nasa_http/events.csv.gz"

func TestReplayKeepsOrderAndIdentity(t *testing.T) {
	file, err := os.Open(nasa)
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	unzipped, err := gzip.NewReader(file)
	require.NoError(t, err)
	rows, err := csv.NewReader(unzipped).ReadAll()
	require.NoError(t, err)
	rows = rows[1:]

	ingestor := &recorder{}
	cfg := feed.ReplayConfig{Path: nasa, Ingest: ingestor.start(t), Finish: true, Batch: 1000}
	report, err := feed.Replay(t.Context(), cfg)
	require.NoError(t, err)
	require.Equal(t, len(rows), report.Accepted)
	require.Equal(t, len(rows), report.Rows)
	require.Zero(t, report.Unreadable+report.Rejected+report.LeftOut+report.UnknownCountries)
	require.Equal(t, 1, ingestor.mostAtOnce)
	require.Equal(t, []string{"1995-08-01T19:00:00Z"}, ingestor.watermarks)
	first := ingestor.events
	require.Len(t, first, len(rows))
	want := make([]sentEvent, len(rows))
	for i, row := range rows {
		want[i] = sentEvent{ID: "events-" + row[0], ItemType: "video", ItemID: row[2], Time: json.RawMessage(row[1]), Country: row[3],
			Category: row[4], Language: row[5], Viewer: row[6]}
	}
	require.True(t, reflect.DeepEqual(want, first), "the events are the rows, in their order")

	ingestor.events = nil
	cfg.Until, cfg.Batch = time.Date(1995, 8, 1, 8, 0, 0, 0, time.UTC), 777
	report, err = feed.Replay(t.Context(), cfg)
	require.NoError(t, err)
	require.NotZero(t, report.Accepted)
	require.True(t, reflect.DeepEqual(first[:report.Accepted], ingestor.events), "a second replay repeats the first exactly")
}

func TestReplayInStepsSendsEveryEventOnce(t *testing.T) {
	ingestor := &recorder{}
	address := ingestor.start(t)
	start := time.Date(1995, 8, 1, 6, 0, 0, 0, time.UTC)
	total := 0
	const step = 5 * time.Hour
	for from := start; from.Before(start.Add(13 * time.Hour)); from = from.Add(step) {
		report, err := feed.Replay(t.Context(), feed.ReplayConfig{
			Path: nasa, Ingest: address, From: from, Until: from.Add(step), Watermark: from.Add(step),
		})
		require.NoError(t, err)
		require.Equal(t, from.Add(step), report.Watermark)
		require.Equal(t, report.Rows, report.LeftOut+report.Accepted)
		total += report.Accepted
	}
	require.Equal(t, 30969, total)
	require.Len(t, ingestor.watermarks, 3)
	ids := map[string]bool{}
	for _, event := range ingestor.events {
		ids[event.ID] = true
	}
	require.Len(t, ids, total)
}

func TestReplayTriesAgainWithTheSameIDs(t *testing.T) {
	ingestor := &recorder{before: func(w http.ResponseWriter, _ *http.Request, request, _ int) bool {
		switch request {
		case 1, 4:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 2:
			w.WriteHeader(http.StatusTooManyRequests)
		case 3:
			panic(http.ErrAbortHandler) // breaks the connection
		default:
			return false
		}
		return true
	}}
	report, err := replayText(t, ingestor, csvOf(5), feed.ReplayConfig{Batch: 2, RetryFor: time.Minute, Finish: true})
	require.NoError(t, err)
	require.Equal(t, 4, report.Retries)
	require.Equal(t, 5, report.Accepted)
	require.Equal(t, []string{"stdin-0", "stdin-1", "stdin-2", "stdin-3", "stdin-4"}, ids(ingestor.events))
}

func TestReplayGivesUpInBoundedTime(t *testing.T) {
	ingestor := &recorder{before: func(w http.ResponseWriter, _ *http.Request, _, _ int) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}}
	report, err := replayText(t, ingestor, csvOf(5), feed.ReplayConfig{RetryFor: 300 * time.Millisecond})
	require.ErrorContains(t, err, "503 Service Unavailable")
	require.ErrorContains(t, err, "gave up after")
	require.Zero(t, report.Accepted)
	require.Less(t, report.Elapsed, 5*time.Second)
}

func TestReplayStopsAtARefusal(t *testing.T) {
	ingestor := &recorder{before: func(w http.ResponseWriter, _ *http.Request, _, _ int) bool {
		http.Error(w, "no such thing", http.StatusNotFound)
		return true
	}}
	_, err := replayText(t, ingestor, csvOf(5), feed.ReplayConfig{RetryFor: time.Minute})
	require.ErrorContains(t, err, "404 Not Found: no such thing")
	require.Equal(t, 1, ingestor.requests)
}

func TestReplayHalvesWhatIsTooLarge(t *testing.T) {
	ingestor := &recorder{before: func(w http.ResponseWriter, _ *http.Request, _, events int) bool {
		if events > 3 {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
		}
		return events > 3
	}}
	ingestor.judge = func(event sentEvent) (string, string) {
		if event.ItemID == "item 8" {
			return "item_id", "not today"
		}
		return "", ""
	}
	report, err := replayText(t, ingestor, csvOf(11), feed.ReplayConfig{})
	require.NoError(t, err)
	require.Equal(t, 10, report.Accepted)
	require.Equal(t, []feed.RejectedReason{{Field: "item_id", Reason: "not today", Count: 1, FirstLine: 10}}, report.Reasons)
	require.Equal(t, []string{"stdin-0", "stdin-1", "stdin-2", "stdin-3", "stdin-4", "stdin-5", "stdin-6", "stdin-7", "stdin-9",
		"stdin-10"}, ids(ingestor.events))
}

func TestReplayReportsWhatWasNotTaken(t *testing.T) {
	ingestor := &recorder{judge: func(event sentEvent) (string, string) {
		switch event.ItemID {
		case "item 1", "item 3":
			return "item_id", "odd"
		case "item 2":
			return "event_time", "too old"
		}
		return "", ""
	}}
	input := csvOf(5) + "5,5,broken\n6,6000,item 6,Atlantis\n"
	report, err := replayText(t, ingestor, input, feed.ReplayConfig{})
	require.NoError(t, err)
	var out strings.Builder
	report.Elapsed = 2 * time.Second
	require.NoError(t, report.Write(&out))
	require.Equal(t, `replayed -: 6 sent, 3 accepted, 3 rejected, 1 unreadable in 2.0 s (3/s)
        1 sent without a country: theirs is not in ISO 3166
        2 rejected: item_id: odd (first on line 3)
        1 rejected: event_time: too old (first on line 4)
unreadable line 7: 3 fields where the header has 4
`, out.String())
}

func TestReplayOfNothingReadableFails(t *testing.T) {
	_, err := replayText(t, &recorder{}, "seq,ts_ms,item\nbroken\n", feed.ReplayConfig{})
	require.EqualError(t, err, "no row of - could be read, the first is line 2: 1 fields where the header has 3")
	_, err = replayText(t, &recorder{}, "seq,ts_ms,item\n", feed.ReplayConfig{Finish: true})
	require.EqualError(t, err, "finish: no event was sent, so there is no last hour to end")
	report, err := replayText(t, &recorder{}, "", feed.ReplayConfig{Format: feed.FormatNDJSON})
	require.NoError(t, err)
	require.Zero(t, report.Rows)
}

func TestReplayFollowsTheDataClock(t *testing.T) {
	ingestor := &recorder{}
	var input strings.Builder
	input.WriteString("seq,ts_ms,item\n")
	for i := range 5 {
		fmt.Fprintf(&input, "%d,%d,x\n", i, i*100_000)
	}
	report, err := replayText(t, ingestor, input.String(), feed.ReplayConfig{Speed: 1000})
	require.NoError(t, err)
	require.GreaterOrEqual(t, report.Elapsed, 350*time.Millisecond, "400 s at 1,000 times their pace")
	require.Len(t, ingestor.batches, 5, "an event that is due does not wait for the next")
}

func TestReplayShiftsToNow(t *testing.T) {
	ingestor := &recorder{}
	path := filepath.Join(t.TempDir(), "day.csv")
	require.NoError(t, os.WriteFile(path, []byte(csvOf(5)), 0o600))
	before := time.Now().Truncate(time.Second)
	_, err := feed.Replay(t.Context(), feed.ReplayConfig{Path: path, Ingest: ingestor.start(t), Clock: feed.ClockWall, Shift: true,
		Until: time.UnixMilli(3000), InFlight: 1})
	require.NoError(t, err)
	require.Len(t, ingestor.events, 3)
	last, err := strconv.ParseInt(string(ingestor.events[2].Time), 10, 64)
	require.NoError(t, err)
	require.WithinRange(t, time.UnixMilli(last), before.Add(-time.Second), time.Now())
	requireMillis(t, last-2000, ingestor.events[0].Time)
	require.Equal(t, "day-0", ingestor.events[0].ID)
}

func TestReplayOnTheWallClockSendsAtOnce(t *testing.T) {
	ingestor := &recorder{}
	report, err := replayText(t, ingestor, csvOf(500), feed.ReplayConfig{Clock: feed.ClockWall, Batch: 10})
	require.NoError(t, err)
	require.Equal(t, 500, report.Accepted)
	require.LessOrEqual(t, ingestor.mostAtOnce, feed.DefaultWallInFlight)
}

func TestReplayStopsWhenAsked(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	ingestor := &recorder{before: func(_ http.ResponseWriter, r *http.Request, _, _ int) bool {
		cancel()
		select {
		case <-r.Context().Done():
		case <-release:
		}
		return true
	}}
	defer close(release)
	_, err := feed.Replay(ctx, feed.ReplayConfig{Path: nasa, Ingest: ingestor.start(t), Batch: 10, RetryFor: time.Minute})
	require.ErrorIs(t, err, context.Canceled)
}

func TestReplayConfigReportsEveryMistake(t *testing.T) {
	cfg := feed.ReplayConfig{Path: "-", Ingest: "127.0.0.1:8080", Clock: "sun", Format: "xml", ItemType: "Video", Batch: -1,
		InFlight: -1, Speed: -1, Shift: true, RetryFor: -1, Until: time.Unix(1, 0), From: time.Unix(2, 0)}
	err := cfg.Validate()
	for _, field := range []string{"ingest", "clock", "format", "item-type", "batch", "in-flight", "speed", "shift", "retry-for",
		"until"} {
		require.ErrorContains(t, err, field+": ")
	}
	for _, cfg := range []feed.ReplayConfig{
		{Path: "x", Ingest: "http://h", InFlight: 2},
		{Path: "x", Ingest: "http://h", Clock: feed.ClockWall, Finish: true},
		{Path: "x", Ingest: "http://h", Finish: true, Watermark: time.Unix(1, 0)},
		{Ingest: "http://h"},
	} {
		require.Error(t, cfg.Validate())
	}
}

func replayText(t *testing.T, ingestor *recorder, input string, cfg feed.ReplayConfig) (*feed.ReplayReport, error) {
	t.Helper()
	cfg.Path = "-"
	cfg.Input = strings.NewReader(input)
	cfg.Ingest = ingestor.start(t)
	return feed.Replay(t.Context(), cfg)
}

// csvOf is a recording with an event a second.
func csvOf(events int) string {
	var b strings.Builder
	b.WriteString("seq,ts_ms,item,country\n")
	for i := range events {
		fmt.Fprintf(&b, "%d,%d,item %d,\n", i, i*1000, i)
	}
	return b.String()
}

func ids(events []sentEvent) []string {
	out := make([]string, len(events))
	for i, event := range events {
		out[i] = event.ID
	}
	return out
}

func TestIDPrefixIsTheBaseNameWithinItsBound(t *testing.T) {
	long := strings.Repeat("é", 40)
	for path, want := range map[string]string{
		"/a/b/day.csv.gz":   "day",
		"day.ndjson":        "day",
		"day.of.all.jsonl":  "day.of.all",
		"-":                 "stdin",
		long + ".csv":       strings.Repeat("é", 21),
		"bad\xffname.csv":   "badname",
		"no-extension-here": "no-extension-here",
	} {
		cfg := feed.ReplayConfig{Path: path, Ingest: "http://h"}
		require.NoError(t, cfg.Validate())
		require.Equal(t, want, cfg.IDPrefix)
	}
}
