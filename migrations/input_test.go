package migrations

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"topk/internal/wire"
)

func TestGarbageGoesToDeadLettersAndThePartitionMovesOn(t *testing.T) {
	p := newPipe(t, 1)
	garbage := map[string][]byte{
		"text": []byte("hello"), "nothing": {}, "zeroes": make([]byte, 40), "JSON": []byte(`{"item_id":"a","n":1}`),
		"cut off":             encodeCounts(row("cut", 1, 1))[:200],
		"cut off in a column": encodeCounts(row("cut", 1, 1))[:len(encodeCounts(row("cut", 1, 1)))-30],
		"other columns":       append(columns("a", "String"), 1, 'x'),
		"huge length":         append(columns(countsColumns, countsTypes), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f), "large": []byte(strings.Repeat("x", 1<<20)),
	}
	for _, bytes := range garbage {
		p.send(t, wire.CountsTopic, 0, bytes)
		p.send(t, wire.EventsTopic, 0, bytes)
	}
	p.send(t, wire.CountsTopic, 0, encodeCounts(row("good", 5, 1)))
	p.send(t, wire.EventsTopic, 0, encodeEvents(eventRow{eventID: "e", itemType: "video", itemID: "good", milliseconds: hour * 1000}))

	p.eventually(t, "good\t5", "SELECT item_id, sum(n) FROM topk.counts_second FINAL GROUP BY item_id")
	p.eventually(t, "good", "SELECT item_id FROM topk.events FINAL")
	want := fmt.Sprint(len(garbage))
	for _, topic := range []string{wire.CountsTopic, wire.EventsTopic} {
		p.eventually(t, want, "SELECT uniqExact(offset) FROM topk.dead_letters WHERE topic = '"+topic+"' AND error != '' AND length(raw) <= 65536")
	}
	require.Equal(t, "hello", p.Query(t, "SELECT raw FROM topk.dead_letters WHERE raw = 'hello' LIMIT 1"))
}

// Headers are read by views: whatever stands in them, no block is repeated for ever.
func TestOddHeadersStopNothing(t *testing.T) {
	p := newPipe(t, 1)
	for i, watermark := range []string{"", "x", "-1", "1.5", "18446744073709551615", "9223372036854775807", "99999999999999999999999"} {
		p.sendWith(t, wire.CountsTopic, 0, encodeCounts(row("a", 1, uint64(i))), watermark)
	}
	p.eventually(t, "7", "SELECT sum(n) FROM topk.counts_second FINAL")
	p.eventually(t, "6", "SELECT max(last_offset) FROM topk.ingest_progress")
}

func TestBadRowsCostNoGoodRowBesideThem(t *testing.T) {
	p := newPipe(t, 1)
	type fault struct {
		reason string
		change func(*countRow)
	}
	faults := []fault{
		{"n: not between 1 and 1000000000", func(r *countRow) { r.n = 0 }},
		{"n: not between 1 and 1000000000", func(r *countRow) { r.n = 1 << 63 }},
		{"n: not between 1 and 1000000000", func(r *countRow) { r.n = math.MaxUint64 }},
		{"item_id: not 1 to 256 bytes", func(r *countRow) { r.itemID = "" }},
		{"item_id: not 1 to 256 bytes", func(r *countRow) { r.itemID = strings.Repeat("x", 257) }},
		{"item_id: not valid UTF-8", func(r *countRow) { r.itemID = "\xff\xfe" }},
		{"item_id: not valid UTF-8", func(r *countRow) { r.itemID = "\xed\xa0\x80" }},
		{"item_id: contains a control character", func(r *countRow) { r.itemID = "a\x00b" }},
		{"item_type: does not match ^[a-z][a-z0-9_]{0,31}$", func(r *countRow) { r.itemType = "" }},
		{"item_type: does not match ^[a-z][a-z0-9_]{0,31}$", func(r *countRow) { r.itemType = "Video" }},
		{"second: not between 1970 and 2100", func(r *countRow) { r.second = 0 }},
		{"second: not between 1970 and 2100", func(r *countRow) { r.second = math.MaxUint32 }},
	}
	for i, f := range faults {
		bad := row("bad", 1, uint64(i))
		f.change(&bad)
		p.send(t, wire.CountsTopic, 0, encodeCounts(bad, row("good", 1, uint64(i)), bad))
	}
	p.send(t, wire.CountsTopic, 0, encodeCountsOf("test@1", 99)) // a heartbeat
	last := len(faults)
	p.eventually(t, fmt.Sprint(last), "SELECT max(last_offset) FROM topk.ingest_progress")
	p.eventually(t, fmt.Sprintf("good\t%d", last), "SELECT item_id, sum(n) FROM topk.counts_second FINAL GROUP BY item_id")
	for i, f := range faults {
		p.eventually(t, f.reason+"\t2", fmt.Sprintf("SELECT any(error), count() FROM topk.dead_letters WHERE offset = %d", i))
	}
	require.Equal(t, fmt.Sprint(2*last), p.Query(t, "SELECT count() FROM topk.dead_letters"))
	require.Equal(t, fmt.Sprint(last), p.Query(t, "SELECT sum(n) FROM topk.counts_minute"))
	require.Equal(t, "video", p.Query(t, "SELECT DISTINCT item_type FROM topk.topk_10s"))
}

func TestBadEventsCostNoGoodEventBesideThem(t *testing.T) {
	p := newPipe(t, 1)
	good := eventRow{eventID: "e", itemType: "video", itemID: "good", milliseconds: hour * 1000}
	changes := map[string]func(*eventRow){
		"item_id: not 1 to 256 bytes":           func(e *eventRow) { e.itemID = "" },
		"item_id: not valid UTF-8":              func(e *eventRow) { e.itemID = "\xff" },
		"item_id: contains a control character": func(e *eventRow) { e.itemID = "\n" },
		"event_id: not 1 to 64 bytes":           func(e *eventRow) { e.eventID = "" },
		"event_time: not between 1970 and 2100": func(e *eventRow) { e.milliseconds = hour * 1_000_000 },
	}
	for reason, change := range changes {
		bad := good
		change(&bad)
		good.eventID = reason[:8]
		p.send(t, wire.EventsTopic, 0, encodeEvents(bad, good))
	}
	flagged := good
	flagged.eventID, flagged.flags = "flagged", []string{"bot"}
	p.send(t, wire.EventsTopic, 0, encodeEvents(flagged, eventRow{}))

	p.eventually(t, "1", "SELECT count() FROM topk.events FINAL WHERE flags = ['bot']")
	require.Equal(t, "good", p.Query(t, "SELECT DISTINCT item_id FROM topk.events"))
	for reason := range changes {
		p.eventually(t, "1", fmt.Sprintf("SELECT count() FROM topk.dead_letters WHERE error = '%s'", reason))
	}
	p.eventually(t, fmt.Sprint(len(changes)), "SELECT sum(length(identities)) FROM topk.event_identities") // the flagged one is not counted
}

// A message at fault as a whole counts nothing of itself, and neither stops the partition nor costs the messages beside it.
func TestMessagesAtFaultAreOneDeadLetter(t *testing.T) {
	p := newPipe(t, 1)
	uneven := func(longer int) []byte { // all arrays have one value, and one of them has two
		to := columns(countsColumns, countsTypes)
		for column, width := range []int{2, 2, 2, 2, 2, 4, 8} { // of a text: its length and one byte
			n := 1
			if column == longer {
				n = 2
			}
			to = binary.AppendUvarint(to, uint64(n))
			for range n {
				to = append(to, append([]byte{1}, make([]byte, width-1)...)...)
			}
		}
		return binary.LittleEndian.AppendUint64(text(to, "test@1"), 1)
	}
	nobody := row("nobody", 1, 1)
	nobody.ingestor = ""
	p.send(t, wire.CountsTopic, 0, encodeCounts(nobody, row("nobody", 1, 1)))
	p.send(t, wire.CountsTopic, 0, columns("a", "String")) // none of the columns
	for column := range 7 {
		p.send(t, wire.CountsTopic, 0, uneven(column))
		p.send(t, wire.CountsTopic, 0, encodeCounts(row("good", 1, uint64(column))))
	}
	events := columns("event_id|ingestor", "Array(String)|String")
	p.send(t, wire.EventsTopic, 0, text(text(binary.AppendUvarint(events, 1), "e"), "test@1"))
	p.send(t, wire.EventsTopic, 0, encodeEvents(eventRow{eventID: "e", itemType: "video", itemID: "good", milliseconds: hour * 1000}))

	p.eventually(t, "good\t7", "SELECT item_id, sum(n) FROM topk.counts_second FINAL GROUP BY item_id")
	p.eventually(t, "good", "SELECT item_id FROM topk.events FINAL")
	p.eventually(t, "1\t1\t1", "SELECT count(), countIf(raw LIKE '%nobody%'), countIf(topic = '"+wire.CountsTopic+"') FROM topk.dead_letters WHERE error = 'ingestor: empty'")
	p.eventually(t, "7\t1", "SELECT countIf(topic = '"+wire.CountsTopic+"'), countIf(topic = '"+wire.EventsTopic+"') FROM topk.dead_letters WHERE error = 'arrays: not of one length'")
}
