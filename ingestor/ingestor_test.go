package ingestor

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/wire"
)

func TestAcceptedEventsAreInBothTopics(t *testing.T) {
	kafka := startKafka(t)
	r := start(t, testConfig(kafka.ListenAddrs())).ready()
	status, answer := r.post(`{"events":[
		{"event_id":"e1","item_id":"a","country":"IN"},
		{"event_id":"e2","item_id":"a","country":"IN"},
		{"event_id":"e3","item_id":"b","flags":["bot"]}]}`)
	require.Equal(t, http.StatusAccepted, status, answer)
	require.JSONEq(t, `{"accepted":3,"rejected":[]}`, answer)
	l := openLog(t, kafka.ListenAddrs())
	l.until("three events", func() bool { return len(l.ids()) == 3 && l.total()["a"] == 2 })
	require.NotContains(t, l.total(), "b", "flagged events are not counted")
}

// An event says on its topic whose clock gave its time.
func TestTimesOfTheIngestorsClockAreMarked(t *testing.T) {
	kafka := startKafka(t)
	r := start(t, testConfig(kafka.ListenAddrs())).ready()
	now := time.Now()
	status, answer := r.post(fmt.Sprintf(`{"events":[{"event_id":"none","item_id":"a"},{"event_id":"own","item_id":"a","event_time":%d},
		{"event_id":"ahead","item_id":"a","event_time":%d}]}`, now.UnixMilli(), now.Add(time.Hour).UnixMilli()))
	require.Equal(t, http.StatusAccepted, status, answer)
	l := openLog(t, kafka.ListenAddrs())
	l.until("three events", func() bool { return len(l.ids()) == 3 })
	stamps := map[string]wire.Stamp{}
	for _, m := range l.messages {
		for _, e := range m.events {
			if e.ID != "" {
				stamps[e.ID] = e.Stamped
			}
		}
	}
	require.Equal(t, map[string]wire.Stamp{"none": wire.Untimed, "own": wire.OwnTime, "ahead": wire.Ahead}, stamps)
}
