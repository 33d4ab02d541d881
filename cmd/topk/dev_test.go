package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"topk/embedded"
)

// What is printed to be tried first works on the clock that was chosen, and needs nothing that was not started.
func TestHintsFitTheClock(t *testing.T) {
	e := embedded.Endpoints{Ingest: "http://127.0.0.1:8180", API: "http://127.0.0.1:8181"}
	wall := hints(embedded.ClockWall, e)
	require.Contains(t, wall, "http://127.0.0.1:8180/v1/events")
	require.Contains(t, wall, "$(date -u")
	require.Contains(t, wall, "curl 'http://127.0.0.1:8181/v1/topk?window=1m&k=10'")

	event := hints(embedded.ClockEvent, e)
	require.NotContains(t, event, "$(date")
	require.Contains(t, event, "  bin/topk replay test/testdata/nasa_http/events.csv.gz --ingest http://127.0.0.1:8180 --clock event --finish\n")
	require.Contains(t, event, "curl 'http://127.0.0.1:8181/v1/topk?window=1h&k=10'")

	require.Equal(t, event, hints(embedded.ClockEvent, embedded.Endpoints{Ingest: e.Ingest})+hints(embedded.ClockEvent, embedded.Endpoints{API: e.API}))
	require.Empty(t, hints(embedded.ClockWall, embedded.Endpoints{}))
}
