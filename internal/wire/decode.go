package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"time"
	"topk/internal/event"
)

// Count is one row of the counts topic. N is 0 in a heartbeat.
type Count struct {
	ItemType, ItemID, Country, Category, Language string
	Second                                        uint32 // epoch seconds
	N                                             uint64
	Ingestor                                      string
	Sequence                                      uint64
}

// EventRow is one row of the events topic. ItemType is "" in a heartbeat.
type EventRow struct {
	event.Event
	Ingestor string
}

// errShort is a message that ends within a row.
var errShort = errors.New("message ends within a row")

// DecodeCounts reads a message of the counts topic back. The services never do: ClickHouse does. Tests and tools do.
func DecodeCounts(message []byte) ([]Count, error) {
	r, err := newReader(message, CountsHeader)
	if err != nil {
		return nil, err
	}
	var rows []Count
	for len(r.rest) > 0 && r.err == nil {
		rows = append(rows, Count{
			ItemType: r.text(), ItemID: r.text(), Country: r.text(), Category: r.text(), Language: r.text(),
			Second: binary.LittleEndian.Uint32(r.take(4)), N: r.uint64(), Ingestor: r.text(), Sequence: r.uint64(),
		})
	}
	return rows, r.err
}

// DecodeEvents reads a message of the events topic back.
func DecodeEvents(message []byte) ([]EventRow, error) {
	r, err := newReader(message, EventsHeader)
	if err != nil {
		return nil, err
	}
	var rows []EventRow
	for len(r.rest) > 0 && r.err == nil {
		rows = append(rows, EventRow{
			Event: event.Event{
				ID: r.text(), ItemType: r.text(), ItemID: r.text(), Time: time.UnixMilli(int64(r.uint64())).UTC(),
				Country: r.text(), Category: r.text(), Language: r.text(), Viewer: r.text(), Flags: r.texts(),
			},
			Ingestor: r.text(),
		})
	}
	return rows, r.err
}

// reader takes values off a message and remembers the first error, after which it yields zeros.
type reader struct {
	rest []byte
	err  error
}

func newReader(message, header []byte) (*reader, error) {
	rest, ok := bytes.CutPrefix(message, header)
	if !ok {
		return nil, fmt.Errorf("message of %d bytes does not start with the topic's columns", len(message))
	}
	return &reader{rest: rest}, nil
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.err, r.rest = errShort, nil
		return make([]byte, min(max(n, 0), 8))
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *reader) uint64() uint64 { return binary.LittleEndian.Uint64(r.take(8)) }

func (r *reader) length() int {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 || n > MaxMessageBytes {
		r.err, r.rest = errShort, nil
		return 0
	}
	r.rest = r.rest[size:]
	return int(n)
}

func (r *reader) text() string { return string(r.take(r.length())) }

func (r *reader) texts() []string {
	var texts []string
	for range r.length() {
		if r.err != nil {
			break
		}
		texts = append(texts, r.text())
	}
	return texts
}
