package ingestor

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
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
