package wire

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/internal/event"
)

const name = "a@1764547200000"

func bytesOf(words ...string) (b [][]byte) {
	for _, w := range words {
		b = append(b, []byte(w))
	}
	return b
}

func sample() Event {
	return Event{
		ID: []byte("e1"), ItemType: []byte("video"), ItemID: []byte(strings.Repeat("ü", 128)), Millis: 1764547200123,
		Country: []byte("IN"), Category: []byte("music"), Language: []byte("hi"), Viewer: []byte("u1"), Flags: bytesOf("bot", "test"),
	}
}

func TestEventsReadBack(t *testing.T) {
	e := sample()
	message := AppendEventsHeartbeat(AppendEvent(append([]byte(nil), EventsHeader...), &e, name), name)
	rows, err := DecodeEvents(message)
	require.NoError(t, err)
	require.Equal(t, []EventRow{
		{Event: event.Event{
			ID: "e1", ItemType: "video", ItemID: strings.Repeat("ü", 128), Time: time.UnixMilli(1764547200123).UTC(),
			Country: "IN", Category: "music", Language: "hi", Viewer: "u1", Flags: []string{"bot", "test"},
		}, Ingestor: name},
		{Event: event.Event{Time: time.UnixMilli(0).UTC()}, Ingestor: name},
	}, rows)
}

func TestCountsReadBack(t *testing.T) {
	e := sample()
	key := AppendCountKey(nil, &e, 1764547200)
	row := AppendCount(nil, key, 7, name, 42)
	require.Len(t, row, CountBytes(len(key), name))
	message := AppendCountsHeartbeat(append(append([]byte(nil), CountsHeader...), row...), name, 43)
	rows, err := DecodeCounts(message)
	require.NoError(t, err)
	require.Equal(t, []Count{
		{ItemType: "video", ItemID: strings.Repeat("ü", 128), Country: "IN", Category: "music", Language: "hi", Second: 1764547200, N: 7, Ingestor: name, Sequence: 42},
		{Ingestor: name, Sequence: 43},
	}, rows)
}

func TestStringBytes(t *testing.T) {
	for _, n := range []int{0, 1, 127, 128, 256, 16383, 16384} {
		require.Equal(t, len(AppendString(nil, strings.Repeat("x", n))), StringBytes(n), n)
	}
}

func TestEncodingAllocatesNothing(t *testing.T) {
	e, buf := sample(), make([]byte, 0, 1<<16)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		key := AppendCountKey(buf[:0], &e, 1)
		AppendEvent(AppendCount(buf[len(key):len(key)], key, 1, name, 1), &e, name)
	}))
}

// TestHeadersAreTheQueueTables compares the columns in a message with those in the migrations: the Kafka engine refuses
// a message whose types differ.
func TestHeadersAreTheQueueTables(t *testing.T) {
	for pattern, header := range map[string][]byte{"*_counts_queue.up.sql": CountsHeader, "*_events_queue.up.sql": EventsHeader} {
		files, err := filepath.Glob(filepath.Join("../../migrations/clickhouse", pattern))
		require.NoError(t, err)
		require.Len(t, files, 1)
		sql, err := os.ReadFile(files[0])
		require.NoError(t, err)
		var columns [][2]string
		for _, m := range regexp.MustCompile(`(?m)^    (\w+) ((?:String|UInt64|DateTime|Array).*?),?$`).FindAllStringSubmatch(string(sql), -1) {
			columns = append(columns, [2]string{m[1], m[2]})
		}
		require.Equal(t, string(appendHeader(nil, columns)), string(header), files[0])
	}
}

func FuzzDecode(f *testing.F) {
	e := sample()
	f.Add(AppendEvent(append([]byte(nil), EventsHeader...), &e, name))
	f.Add(AppendCountsHeartbeat(append([]byte(nil), CountsHeader...), name, 1))
	f.Add(append(append([]byte(nil), CountsHeader...), 0xff))
	f.Fuzz(func(_ *testing.T, message []byte) {
		_, _ = DecodeEvents(message)
		_, _ = DecodeCounts(message)
	})
}
