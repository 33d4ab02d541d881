package wire

import (
	"bytes"
	"encoding/binary"
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
		Country: []byte("IN"), Category: []byte("music"), Language: []byte("hi"), Viewer: []byte("u1"), Flags: bytesOf("bot", "test"), Stamped: Ahead,
	}
}

func events(list ...Event) []byte {
	var m Events
	for i := range list {
		m.Add(&list[i])
	}
	return m.AppendTo(nil, name)
}

func TestEventsReadBack(t *testing.T) {
	e := sample()
	plain := e
	plain.Flags, plain.Stamped = nil, OwnTime
	rows, err := DecodeEvents(events(e, plain))
	require.NoError(t, err)
	want := event.Event{
		ID: "e1", ItemType: "video", ItemID: strings.Repeat("ü", 128), Time: time.UnixMilli(1764547200123).UTC(),
		Country: "IN", Category: "music", Language: "hi", Viewer: "u1", Flags: []string{"bot", "test"},
	}
	wantPlain := want
	wantPlain.Flags = nil
	require.Equal(t, []EventRow{{Event: want, Stamped: Ahead, Ingestor: name}, {Event: wantPlain, Ingestor: name}}, rows)
}

func TestCountsReadBack(t *testing.T) {
	e := sample()
	var m Counts
	m.Add(AppendCountKey(nil, &e, 1764547200), 7)
	m.Add(AppendCountKey(nil, &Event{ItemID: []byte("b")}, 1), 1)
	require.Equal(t, 2, m.Rows())
	rows, err := DecodeCounts(m.AppendTo(nil, name, 42))
	require.NoError(t, err)
	require.Equal(t, []Count{
		{ItemType: "video", ItemID: strings.Repeat("ü", 128), Country: "IN", Category: "music", Language: "hi", Second: 1764547200, N: 7, Ingestor: name, Sequence: 42},
		{ItemID: "b", Second: 1, N: 1, Ingestor: name, Sequence: 42},
	}, rows)
	require.Zero(t, m.Rows())
}

func TestMessageWithoutRowsIsAHeartbeat(t *testing.T) {
	counts, err := DecodeCounts(new(Counts).AppendTo(nil, name, 43))
	require.NoError(t, err)
	require.Equal(t, []Count{{Ingestor: name, Sequence: 43}}, counts)
	rows, err := DecodeEvents(events())
	require.NoError(t, err)
	require.Equal(t, []EventRow{{Ingestor: name}}, rows)
}

// TestBoundsHold fills messages until they say that they are full, with rows as small and as large as they get.
func TestBoundsHold(t *testing.T) {
	for _, length := range []int{1, 60, 127, 128, 256} {
		e := sample()
		e.ItemID = bytes.Repeat([]byte("x"), length)
		key := AppendCountKey(nil, &e, 1)
		var c Counts
		for c.HasRoom(len(key), name) {
			c.Add(key, 1)
		}
		require.LessOrEqual(t, c.Rows(), MaxMessageRows)
		message := c.AppendTo(nil, name, 1)
		require.LessOrEqual(t, len(message), MaxMessageBytes)
		var v Events
		row := v.Add(&e)
		for v.HasRoom(row, name) {
			require.Equal(t, row, v.Add(&e))
		}
		require.LessOrEqual(t, v.Rows(), MaxMessageRows)
		require.LessOrEqual(t, len(v.AppendTo(nil, name)), MaxMessageBytes)
	}
}

func TestUnevenArraysAreRefused(t *testing.T) {
	message := append([]byte(nil), CountsHeader...)
	message = append(message, 0, 1, 0, 0, 0, 0, 0, 0, 0) // one item_id, nothing else, no ingestor
	message = binary.LittleEndian.AppendUint64(message, 1)
	_, err := DecodeCounts(message)
	require.ErrorIs(t, err, errUneven)
	_, err = DecodeCounts(append(new(Counts).AppendTo(nil, name, 1), 0))
	require.ErrorContains(t, err, "1 bytes follow")
}

func TestEncodingAllocatesNothing(t *testing.T) {
	e, buf, keys := sample(), make([]byte, 0, 1<<16), make([]byte, 0, 1<<10)
	var counts Counts
	var views Events
	require.Zero(t, testing.AllocsPerRun(100, func() {
		counts.Add(AppendCountKey(keys, &e, 1), 1)
		views.Add(&e)
		views.AppendTo(counts.AppendTo(buf, name, 1), name)
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
	f.Add(events(e, e))
	f.Add(new(Counts).AppendTo(nil, name, 1))
	f.Add(append(append([]byte(nil), CountsHeader...), 0xff))
	f.Fuzz(func(_ *testing.T, message []byte) {
		_, _ = DecodeEvents(message)
		_, _ = DecodeCounts(message)
	})
}
