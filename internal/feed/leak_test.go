package feed_test

import (
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/feed"
)

// Whatever ends a replay or a load, nothing of it goes on.
func TestNothingIsLeftRunning(t *testing.T) {
	refuse := &recorder{before: func(w http.ResponseWriter, _ *http.Request, request, _ int) bool {
		if request > 3 {
			w.WriteHeader(http.StatusBadRequest)
		}
		return request > 3
	}}
	fine, recorded := &recorder{}, &recorder{}
	fineURL, refuseURL, recordedURL := fine.start(t), refuse.start(t), recorded.start(t)
	api := (&server{ingestor: fine}).start(t)
	before := runtime.NumGoroutine()
	for _, ingest := range []string{recordedURL, refuseURL} {
		_, _ = feed.Replay(t.Context(), feed.ReplayConfig{Path: nasa, Ingest: ingest, Batch: 500, Clock: feed.ClockWall,
			Until: time.Date(1995, 8, 1, 8, 0, 0, 0, time.UTC)})
	}
	for _, ingest := range []string{fineURL, refuseURL} {
		cfg := smallLoad(ingest)
		cfg.API, cfg.Probe, cfg.Verify = api, true, true
		_, _ = feed.Load(t.Context(), cfg)
	}
	// The condition is looked at in this goroutine: another would be counted.
	deadline := time.Now().Add(10 * time.Second)
	for runtime.NumGoroutine() > before && time.Now().Before(deadline) {
		runtime.Gosched()
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), before)
}
