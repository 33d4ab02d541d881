package ingestor

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// More requests than may wait are told to come again: by 429 while Kafka takes what it gets, by 503 while it does not.
func TestOverloadIsToldFromAnOutage(t *testing.T) {
	kafka := startKafka(t)
	r := start(t, testConfig(kafka.ListenAddrs())).ready()
	overload := func(status int) {
		t.Helper()
		r.in.waiting.Add(maxWaiting)
		response, err := http.Post(r.url+"/v1/events", "application/json", strings.NewReader(oneEvent))
		r.in.waiting.Add(-maxWaiting)
		require.NoError(t, err)
		defer response.Body.Close()
		answer, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.Equal(t, status, response.StatusCode, string(answer))
		require.Equal(t, "1", response.Header.Get("Retry-After"))
		require.Contains(t, string(answer), "nothing was accepted")
	}
	overload(http.StatusTooManyRequests)
	r.in.waitingEvents.Add(maxWaitingEvents)
	got, answer := r.post(oneEvent)
	r.in.waitingEvents.Add(-maxWaitingEvents)
	require.Equal(t, http.StatusTooManyRequests, got, answer)
	reason := "Kafka takes nothing"
	r.in.flusher.notReady.Store(&reason)
	overload(http.StatusServiceUnavailable)
	r.in.flusher.notReady.Store(nil)
	got, answer = r.post(oneEvent)
	require.Equal(t, http.StatusAccepted, got, answer)
	require.NoError(t, r.stop())
}
