package ingestor

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestConflictsAreCounted: an id that comes with another item or hour is counted as a conflict and accepted; retries, other
// dimensions and another minute of the hour are none.
func TestConflictsAreCounted(t *testing.T) {
	acc, f := newPipe(t, 3)
	hour := time.Now().Add(-2 * time.Hour).Truncate(time.Hour).UnixMilli()
	send := func(id, itemType, item string, millis int64, dims ...string) {
		p := newParser()
		e := parsedEvent{timed: true}
		e.ID, e.ItemType, e.ItemID, e.Millis = []byte(id), []byte(itemType), []byte(item), millis
		if len(dims) > 0 {
			e.Country = []byte(dims[0])
		}
		e.hash = hashItem(&e.Event)
		p.events = append(p.events, e)
		_, err := acc.add(context.Background(), p)
		require.NoError(t, err)
		require.Equal(t, 1, p.accepted)
	}
	for _, step := range []struct {
		why                string
		id, itemType, item string
		millis             int64
		conflicts          float64
	}{
		{"new", "1", "video", "a", hour, 0},
		{"a retry", "1", "video", "a", hour, 0},
		{"another minute", "1", "video", "a", hour + 59*60_000, 0},
		{"another id", "2", "video", "b", hour, 0},
		{"another item", "1", "video", "b", hour, 1},
		{"its retry", "1", "video", "b", hour, 1},
		{"another type", "1", "hashtag", "b", hour, 2},
		{"another hour", "1", "hashtag", "b", hour + millisPerHour, 3},
		{"the other id again", "2", "video", "b", hour, 3},
	} {
		send(step.id, step.itemType, step.item, step.millis)
		require.Equal(t, step.conflicts, value(t, acc.metrics.conflicts), step.why)
	}
	f.commitAll()
	send("1", "hashtag", "b", hour+millisPerHour, "IN")
	require.Equal(t, 3.0, value(t, acc.metrics.conflicts), "dimensions are no part of the identity")
	send("1", "video", "a", hour)
	require.Equal(t, 4.0, value(t, acc.metrics.conflicts), "a flush forgets nothing")
}

// TestConflictsForgetAndInventNothing: a stream of ids far longer than what is remembered makes no conflict, and those seen
// lately are all found again.
func TestConflictsForgetAndInventNothing(t *testing.T) {
	c := newConflicts()
	event := func(id int, hash uint64) *parsedEvent {
		e := &parsedEvent{hash: hash}
		e.ID = fmt.Append(nil, "id-", id)
		return e
	}
	for id := range 10 * rememberedIDs {
		require.False(t, c.see(event(id, uint64(id))))
	}
	found, last := 0, 10*rememberedIDs
	for id := last - rememberedIDs/16; id < last; id++ {
		if c.see(event(id, uint64(id)+1)) {
			found++
		}
	}
	require.Greater(t, found, rememberedIDs/16*9/10, "e^(-1/16) is 94 %")
	require.Len(t, c.places, rememberedIDs)
}

// TestConflictOverHTTP: both events are accepted, and /metrics tells.
func TestConflictOverHTTP(t *testing.T) {
	r := start(t, testConfig(startKafka(t).ListenAddrs())).ready()
	status, answer := r.post(`{"events":[{"event_id":"same","item_id":"a"},{"event_id":"same","item_id":"b"},{"event_id":"other","item_id":"a"}]}`)
	require.Equal(t, http.StatusAccepted, status)
	require.Contains(t, answer, `"accepted":3`)
	_, metrics := r.get("/metrics")
	require.Contains(t, metrics, "topk_ingest_conflicts_total 1\n")
}

// BenchmarkConflicts looks at new ids one after another, each of which the parser has just left in the cache, unlike its place.
func BenchmarkConflicts(b *testing.B) {
	e := benchEvents(1)[0]
	c := newConflicts()
	report := perCPUSecond(b)
	for i := range b.N {
		binary.LittleEndian.PutUint64(e.ID, uint64(i))
		c.see(&e)
	}
	report(b.N)
}
