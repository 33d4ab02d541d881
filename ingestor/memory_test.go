package ingestor

import (
	"context"
	"log/slog"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"

	"topk/internal/wire"
)

func value(t testing.TB, c prometheus.Counter) float64 {
	t.Helper()
	var m dto.Metric
	require.NoError(t, c.Write(&m))
	return m.GetCounter().GetValue()
}

// newPipe is an accumulator and a flusher without Kafka: commitAll stands for it.
func newPipe(t testing.TB, partitions int) (*accumulator, *flusher) {
	t.Helper()
	cfg := DefaultConfig()
	m := newMetrics(prometheus.NewRegistry(), func() float64 { return 0 })
	acc := newAccumulator(&cfg, m, time.Now)
	f := newFlusher(&cfg, slog.New(slog.DiscardHandler), m, acc, time.Now)
	f.partitions = partitions
	acc.swap(newBatch(f.instance, partitions))
	return acc, f
}

// commitAll does what a flush does, except for Kafka.
func (f *flusher) commitAll() (rows int) {
	b, quiet := f.acc.swap(f.nextBatch())
	b.mark = f.mark.at(f.cfg, b, f.now(), quiet)
	rows = b.rows
	f.committed(b, f.records(b, false))
	return rows
}

// fill makes a request of n events whose items are numbered from first.
func (p *parser) fill(first, n int, dims ...string) {
	p.reset(nil)
	for i := range n {
		item := strconv.Itoa(first + i)
		e := parsedEvent{index: i}
		e.ID, e.ItemID, e.ItemType = []byte("01JDZ5KQ3X"+item), []byte("v_"+item), defaultItemType
		if len(dims) > 0 {
			e.Country, e.Category, e.Language = []byte(dims[0]), []byte(dims[1]), []byte(dims[2])
		}
		e.hash = hashItem(&e.Event)
		p.events = append(p.events, e)
	}
}

// TestMemoryIsBoundedWhateverTheDistinctItems pours five million distinct items through batches that flush when they are
// full, as a spammer would, then moves all traffic to one item, whose partition alone grows.
func TestMemoryIsBoundedWhateverTheDistinctItems(t *testing.T) {
	const distinct, perRequest = 5_000_000, 5000
	acc, f := newPipe(t, 12)
	p := newParser()
	flushes, rows, peak := 0, 0, uint64(0)
	var stats runtime.MemStats
	flush := func() {
		rows += f.commitAll()
		if flushes++; flushes%5 == 0 {
			runtime.GC()
			runtime.ReadMemStats(&stats)
			peak = max(peak, stats.HeapAlloc)
		}
	}
	for first := 0; first < distinct; first += perRequest {
		p.fill(first, perRequest)
		b, err := acc.add(context.Background(), p)
		require.NoError(t, err)
		require.Less(t, b.rows, maxBatchRows+perRequest)
		require.Less(t, b.bytes, maxBatchBytes+perRequest*1024)
		if b.full() {
			flush()
		}
	}
	flush()
	require.Equal(t, distinct, rows, "each distinct item is a row: nothing is lost to a full map")
	require.Equal(t, float64(flushes-1), value(t, acc.metrics.early.WithLabelValues("rows"))+value(t, acc.metrics.early.WithLabelValues("bytes")))
	for range 200 {
		p.fill(0, 1)
		for range perRequest {
			p.events = append(p.events, p.events[0])
		}
		b, err := acc.add(context.Background(), p)
		require.NoError(t, err)
		if b.full() {
			flush()
		}
	}
	require.Less(t, peak, uint64(6*maxBatchBytes), "two batches, their encoded counts, and slack of growing buffers")
	t.Logf("%d distinct items in %d flushes, live heap %d MB at most", distinct, flushes, peak>>20)
}

// TestFullBatchWaitsForRoom: while the one batch is on its way and the other is full, requests wait; they go on when there
// is room, and are refused when the ingestor stops.
func TestFullBatchWaitsForRoom(t *testing.T) {
	acc, f := newPipe(t, 3)
	p := newParser()
	for first := 0; !acc.current.full(); first += 5000 {
		p.fill(first, 5000)
		_, err := acc.add(context.Background(), p)
		require.NoError(t, err)
	}
	require.Len(t, acc.early, 1, "a full batch asks for a flush")
	late := func() <-chan error {
		result := make(chan error, 1)
		go func() {
			q := newParser()
			q.fill(0, 1)
			_, err := acc.add(context.Background(), q)
			result <- err
		}()
		return result
	}
	waiting := late()
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	p.fill(0, 1)
	_, err := acc.add(cancelled, p)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, waiting)
	f.commitAll()
	require.NoError(t, <-waiting)
	acc.stop()
	require.ErrorIs(t, <-late(), errStopping)
}

// TestMessagesAreBounded: a flush of many messages keeps each within bounds, numbers them, and lets only the last of a
// partition carry the new watermark.
func TestMessagesAreBounded(t *testing.T) {
	acc, f := newPipe(t, 2)
	f.mark.sent = 1
	const events = 120_000
	for first := 0; first < events; first += 5000 {
		p := newParser()
		p.fill(first, 5000, "IN", "a category of some length", "hi")
		_, err := acc.add(context.Background(), p)
		require.NoError(t, err)
	}
	b, quiet := acc.swap(nil)
	b.mark = f.mark.at(f.cfg, b, f.now(), quiet)
	last := map[string]string{}
	perTopic, rows := map[string]int{}, map[string]int{}
	sequences := map[uint64]bool{}
	for _, r := range f.records(b, true) {
		require.LessOrEqual(t, len(r.Value), wire.MaxMessageBytes)
		key := r.Topic + strconv.Itoa(int(r.Partition))
		require.NotEqual(t, strconv.FormatInt(b.mark, 10), last[key], "nothing follows the message with the new watermark")
		last[key] = string(r.Headers[0].Value)
		require.Equal(t, last[key] != "1", len(r.Headers) == 3, "closed stands in the last message alone")
		perTopic[r.Topic]++
		if r.Topic == wire.EventsTopic {
			decoded, err := wire.DecodeEvents(r.Value)
			require.NoError(t, err)
			require.LessOrEqual(t, len(decoded), wire.MaxMessageRows)
			if decoded[0].ItemType != "" {
				rows[r.Topic] += len(decoded)
			}
			continue
		}
		decoded, err := wire.DecodeCounts(r.Value)
		require.NoError(t, err)
		require.LessOrEqual(t, len(decoded), wire.MaxMessageRows)
		if decoded[0].ItemType != "" {
			rows[r.Topic] += len(decoded)
		}
		for _, c := range decoded {
			require.Equal(t, decoded[0].Sequence, c.Sequence)
		}
		require.False(t, sequences[decoded[0].Sequence])
		sequences[decoded[0].Sequence] = true
	}
	require.Equal(t, map[string]int{wire.EventsTopic: events, wire.CountsTopic: events}, rows)
	require.GreaterOrEqual(t, perTopic[wire.EventsTopic], 8)
	require.GreaterOrEqual(t, perTopic[wire.CountsTopic], 6)
	require.Len(t, last, 4)
	for key, mark := range last {
		require.Equal(t, strconv.FormatInt(b.mark, 10), mark, key)
	}
}
