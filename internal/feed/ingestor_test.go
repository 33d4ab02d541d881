package feed_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// sentEvent is an event as it reached the ingestor.
type sentEvent struct {
	ID       string          `json:"event_id"`
	ItemType string          `json:"item_type"`
	ItemID   string          `json:"item_id"`
	Time     json.RawMessage `json:"event_time"`
	Country  string          `json:"country"`
	Category string          `json:"category"`
	Language string          `json:"language"`
	Viewer   string          `json:"viewer"`
	Flags    []string        `json:"flags"`
	broken   string          // why the ingestor could not read it
}

// UnmarshalJSON notes what cannot be read, as one bad event must not cost its batch.
func (e *sentEvent) UnmarshalJSON(raw []byte) error {
	type plain sentEvent
	if err := json.Unmarshal(raw, (*plain)(e)); err != nil {
		e.broken = err.Error()
	}
	if bytes.Contains(raw, []byte(`\ud800`)) {
		e.broken = "a lone surrogate"
	}
	return nil
}

// recorder is an ingestor that keeps what it was sent. It takes every event unless before or judge say otherwise.
type recorder struct {
	mu         sync.Mutex
	events     []sentEvent
	batches    [][]sentEvent
	watermarks []string
	requests   int
	atOnce     int
	mostAtOnce int

	// before answers a request itself when it returns true. It runs before anything is kept.
	before func(w http.ResponseWriter, r *http.Request, request, events int) bool
	// judge returns the field and the reason for which an event is rejected.
	judge func(sentEvent) (field, reason string)
}

func (i *recorder) start(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(i)
	t.Cleanup(server.Close)
	return server.URL
}

func (i *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	i.requests++
	request := i.requests
	i.atOnce++
	i.mostAtOnce = max(i.mostAtOnce, i.atOnce)
	i.mu.Unlock()
	defer func() {
		i.mu.Lock()
		i.atOnce--
		i.mu.Unlock()
	}()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var sent struct {
		Events    []sentEvent `json:"events"`
		Watermark string      `json:"watermark"`
	}
	if err := json.Unmarshal(body, &sent); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if i.before != nil && i.before(w, r, request, len(sent.Events)) {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if r.URL.Path == "/v1/watermark" {
		i.watermarks = append(i.watermarks, sent.Watermark)
		return
	}
	i.keep(w, sent.Events)
}

func (i *recorder) keep(w http.ResponseWriter, events []sentEvent) {
	type rejection struct {
		Index  int    `json:"index"`
		Field  string `json:"field"`
		Reason string `json:"reason"`
	}
	rejected := []rejection{}
	i.batches = append(i.batches, events)
	for n, event := range events {
		if i.judge != nil {
			if field, reason := i.judge(event); reason != "" {
				rejected = append(rejected, rejection{n, field, reason})
				continue
			}
		}
		i.events = append(i.events, event)
	}
	w.WriteHeader(http.StatusAccepted)
	_ = json.NewEncoder(w).Encode(map[string]any{"accepted": len(events) - len(rejected), "rejected": rejected})
}

// inspect runs f while nothing is being kept.
func (i *recorder) inspect(f func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	f()
}

func requireMillis(t *testing.T, want int64, raw json.RawMessage) {
	t.Helper()
	var millis int64
	require.NoError(t, json.Unmarshal(raw, &millis))
	require.Equal(t, want, millis)
}
