package ingestor

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"topk/internal/wire"
)

// ClickHouse ends a block at two messages a partition: a flush that ends a second sends as many to each, also where it has no
// event, and only the second carries the new watermark.
func TestWatermarkThatEndsASecondGoesApart(t *testing.T) {
	cfg := DefaultConfig()
	header := func(r *kgo.Record, key string) string {
		for _, h := range r.Headers {
			if h.Key == key {
				return string(h.Value)
			}
		}
		return ""
	}
	flush := func(mark int64, last bool) map[string][]*kgo.Record {
		f := &flusher{cfg: &cfg, instance: "a@1", partitions: 2, mark: watermark{sent: 4_200}}
		b := newBatch(f.instance, 2)
		b.add(&parsedEvent{Event: wire.Event{ID: []byte("1"), ItemType: []byte("video"), ItemID: []byte("x"), Millis: time.Now().UnixMilli()}, hash: 1})
		b.mark = mark
		sent := map[string][]*kgo.Record{}
		for _, r := range f.records(b, last) {
			place := r.Topic + []string{"/0", "/1"}[r.Partition]
			sent[place] = append(sent[place], r)
		}
		require.Len(t, sent, 4, "every partition of both topics")
		return sent
	}
	for place, records := range flush(4_900, false) {
		require.Len(t, records, 1, place)
		require.Equal(t, "4900", header(records[0], wire.HeaderWatermark), place)
	}
	for _, last := range []bool{false, true} {
		for place, records := range flush(5_000, last) {
			require.Len(t, records, 2, place)
			require.Equal(t, "4200", header(records[0], wire.HeaderWatermark), place)
			require.Equal(t, "5000", header(records[1], wire.HeaderWatermark), place)
			require.Equal(t, last, header(records[1], wire.HeaderClosed) == "1", place)
			if records[1].Topic == wire.CountsTopic {
				rows, err := wire.DecodeCounts(records[1].Value)
				require.NoError(t, err)
				require.Equal(t, []wire.Count{{Ingestor: "a@1", Sequence: rows[0].Sequence}}, rows, "a heartbeat")
			}
		}
	}
}
