package top

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rivo/uniseg"
	"github.com/stretchr/testify/require"

	"topk/internal/list"
	"topk/internal/problem"
	"topk/internal/slice"
)

var now = time.Date(2026, 3, 1, 12, 0, 3, 0, time.UTC)

func sample() *list.List {
	return &list.List{
		ItemType: "video", Window: "1h", Slice: "global", AsOf: now.Add(-3 * time.Second), PublishedAt: now.Add(-2 * time.Second),
		Method: list.MethodVerified, Certified: true, MaxOvercount: 17, Total: 1000, Version: 12,
		Items: []list.Item{
			{Position: 1, Rank: 1, ItemID: "v_1", Count: 981, Lower: 981, Upper: 981},
			{Position: 2, Rank: 2, ItemID: "a\x1b[2J\r\nb", Count: 7, Lower: 5, Upper: 7},
			{Position: 3, Rank: 2, ItemID: "مرحبا", Count: 7, Lower: 7, Upper: 7},
			{Position: 4, Rank: 4, ItemID: "👩‍👩‍👧‍👦 family", Count: 5, Lower: 5, Upper: 5},
		},
	}
}

func TestTable(t *testing.T) {
	want := strings.Join([]string{
		"video  1h  global  as_of 2026-03-01T12:00:00Z",
		"verified, certified, max_overcount 17, total 1000, version 12, published 2s ago",
		"",
		"pos  rank  count  interval  item",
		"  1     1    981            v_1",
		`  2     2      7    [5, 7]  a\x1b[2J\x0d\x0ab`,
		"  3     2      7            \u2068مرحبا\u2069",
		"  4     4      5            👩‍👩‍👧‍👦 family",
		"",
	}, "\n")
	require.Equal(t, want, render(sample(), now, 0))
}

// Whatever an id holds, each line stays within the terminal and says nothing to it.
func TestTableFitsTheTerminal(t *testing.T) {
	l := sample()
	for _, id := range []string{
		strings.Repeat("x", 256), strings.Repeat("日本", 40), strings.Repeat("👩‍👩‍👧‍👦", 10), "\u202eevil\u2066", "a\u0301\u0301",
		strings.Repeat("ש", 200), "\xff\xfe", "\u2028", "\u009b31m", "tab\there", "\U000e0067", "\u061c",
	} {
		l.Items = append(l.Items, list.Item{Position: 5, Rank: 5, ItemID: id, Count: 1, Lower: 1, Upper: 1})
	}
	for _, columns := range []int{60, 79, 132} {
		for line := range strings.Lines(render(l, now, columns)) {
			line = strings.TrimSuffix(line, "\n")
			require.LessOrEqual(t, uniseg.StringWidth(line), columns, "%q", line)
			require.Equal(t, strings.Count(line, firstStrongIsolate), strings.Count(line, popDirectionalIsolate))
			bare := strings.NewReplacer(firstStrongIsolate, "", popDirectionalIsolate, "").Replace(line)
			require.NotContains(t, bare, "\x1b")
			require.False(t, strings.ContainsFunc(bare, hidden), "%q", bare)
		}
	}
}

// Whether a list is published or was made because it was asked for stands beside its age.
func TestHeaderSaysWhereTheListIsFrom(t *testing.T) {
	l, precomputed := sample(), true
	l.Precomputed = &precomputed
	require.Contains(t, render(l, now, 0), "total 1000, precomputed, version 12, published 2s ago")
	precomputed = false
	require.Contains(t, render(l, now, 0), "total 1000, made on demand 2s ago\n")
}

func TestHeaderSaysWhatIsWrong(t *testing.T) {
	l := sample()
	l.Stale, l.Certified, l.Items, l.Reason = true, false, nil, "nothing was viewed in this window"
	text := render(l, now, 0)
	require.Contains(t, text, "STALE")
	require.Contains(t, text, "not certified")
	require.Contains(t, text, "no items: nothing was viewed in this window")
}

// What is exact, and what is not counted yet, stands beneath the rest, where the list says it.
func TestHeaderSaysHowFarIsExact(t *testing.T) {
	l := sample()
	text := render(l, now, 0)
	require.NotContains(t, text, "exact_until")
	require.NotContains(t, text, "PARTIAL")
	until := now.Truncate(time.Hour)
	l.ExactUntil, l.Partial = &until, []string{"2026-03-01T09:00:00Z", "2026-03-01T10:00:00Z"}
	require.Equal(t, []string{
		"exact_until 2026-03-01T12:00:00Z",
		"PARTIAL: late events are not counted yet in the hours of 2026-03-01T09:00:00Z, 2026-03-01T10:00:00Z",
		"",
	}, strings.Split(render(l, now, 0), "\n")[2:5])
	for range 100 {
		l.Partial = append(l.Partial, "2026-03-01T11:00:00Z")
	}
	for line := range strings.Lines(render(l, now, 79)) {
		require.LessOrEqual(t, uniseg.StringWidth(strings.TrimSuffix(line, "\n")), 79)
	}
}

// api answers with a list, and counts how often it was spared the body.
type api struct {
	*httptest.Server
	mu          sync.Mutex
	asked       []string
	notModified int
}

func startAPI(t *testing.T) *api {
	a := &api{}
	body, err := json.Marshal(sample())
	require.NoError(t, err)
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.asked = append(a.asked, r.URL.RequestURI())
		if r.URL.Query().Get("item_type") == "nope" {
			_ = problem.New(http.StatusNotFound, "unknown item_type; known: video\x1b[2J").Write(w)
			return
		}
		w.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") == `"1"` {
			a.notModified++
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write(body)
	}))
	t.Cleanup(a.Close)
	return a
}

func TestShowsOnce(t *testing.T) {
	a := startAPI(t)
	c := DefaultConfig()
	c.API, c.K = a.URL+"/", 3
	var out bytes.Buffer
	require.NoError(t, Show(t.Context(), c, Screen{Out: &out}))
	require.Contains(t, out.String(), "v_1")
	require.NotContains(t, out.String(), "\x1b")
	require.Equal(t, []string{"/v1/topk?item_type=video&k=3&window=1h"}, a.asked)

	country, category := "", "a,b"
	c.Slice.Country, c.Slice.Category = &country, &category
	require.NoError(t, Show(t.Context(), c, Screen{Out: &out}))
	require.Equal(t, "/v1/topk?category=a%2Cb&country=&item_type=video&k=3&window=1h", a.asked[1])

	c.Slice, c.MinCount = slice.Request{}, 5
	require.NoError(t, Show(t.Context(), c, Screen{Out: &out}))
	require.Equal(t, "/v1/topk?item_type=video&k=3&min_count=5&window=1h", a.asked[2])

	out.Reset()
	c.JSON = true
	require.NoError(t, Show(t.Context(), c, Screen{Out: &out}))
	var l list.List
	require.NoError(t, json.Unmarshal(out.Bytes(), &l))
	require.Len(t, l.Items, 4)
}

func TestErrorsSayWhatToDo(t *testing.T) {
	a := startAPI(t)
	var out bytes.Buffer
	c := DefaultConfig()
	c.API, c.ItemType = a.URL, "nope"
	require.EqualError(t, Show(t.Context(), c, Screen{Out: &out}),
		`the API refused: unknown item_type; known: video\x1b[2J`)
	a.Close()
	require.ErrorContains(t, Show(t.Context(), c, Screen{Out: &out}), "does not answer (is it running?")
	c.Watch = true
	require.ErrorContains(t, Show(t.Context(), c, Screen{Out: &out}), "standard output is not a terminal")
	err := Show(t.Context(), Config{API: "8081", K: 1001, Watch: true, JSON: true}, Screen{Out: &out})
	for _, want := range []string{"api:", "k:", "min-count:", "watch:"} {
		require.ErrorContains(t, err, want)
	}
	require.Empty(t, out.String())
}

// screen is a terminal that remembers what it was told.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// Watching redraws, asks for nothing it has, survives an API that goes away, and leaves the terminal as it was.
func TestWatch(t *testing.T) {
	a := startAPI(t)
	c := DefaultConfig()
	c.API, c.Watch = a.URL, true
	ctx, interrupt := context.WithCancel(t.Context())
	out := &screen{}
	ended := make(chan error, 1)
	go func() {
		ended <- Show(ctx, c, Screen{Out: out, Terminal: true, Size: func() (int, int) { return 60, 9 }})
	}()
	require.Eventually(t, func() bool { return strings.Count(out.String(), home) >= 2 }, 10*time.Second, 10*time.Millisecond)
	a.Close()
	require.Eventually(t, func() bool { return strings.Contains(out.String(), "does not answer") }, 10*time.Second, 10*time.Millisecond)
	interrupt()
	require.NoError(t, <-ended)
	require.Positive(t, a.notModified)
	require.True(t, strings.HasPrefix(out.String(), enterScreen+home))
	require.True(t, strings.HasSuffix(out.String(), leaveScreen))
	last := out.String()[strings.LastIndex(out.String(), home):]
	require.Equal(t, 8, strings.Count(last, "\r\n"))
	require.Contains(t, last, "v_1", "the last list stays on the screen")
}
