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
	Stamped  Stamp
	Ingestor string
}

// What is wrong with a message.
var (
	errShort  = errors.New("message ends within a column")
	errUneven = errors.New("arrays of a message differ in length")
)

// DecodeCounts reads a message of the counts topic back, as the queue view does: a message without rows is one row
// without views, a heartbeat. The services never read messages: ClickHouse does. Tests and tools do.
func DecodeCounts(message []byte) ([]Count, error) {
	r, err := newReader(message, CountsHeader)
	if err != nil {
		return nil, err
	}
	itemTypes, itemIDs, countries := array(r, r.text), array(r, r.text), array(r, r.text)
	categories, languages, seconds, ns := array(r, r.text), array(r, r.text), array(r, r.uint32), array(r, r.uint64)
	ingestor, sequence := r.text(), r.uint64()
	n := len(itemIDs)
	if err := r.end(n, len(itemTypes), len(countries), len(categories), len(languages), len(seconds), len(ns)); err != nil {
		return nil, err
	}
	if n == 0 {
		return []Count{{Ingestor: ingestor, Sequence: sequence}}, nil
	}
	rows := make([]Count, n)
	for i := range rows {
		rows[i] = Count{
			ItemType: itemTypes[i], ItemID: itemIDs[i], Country: countries[i], Category: categories[i], Language: languages[i],
			Second: seconds[i], N: ns[i], Ingestor: ingestor, Sequence: sequence,
		}
	}
	return rows, nil
}

// DecodeEvents reads a message of the events topic back. A message without events is one row without an item type.
func DecodeEvents(message []byte) ([]EventRow, error) {
	r, err := newReader(message, EventsHeader)
	if err != nil {
		return nil, err
	}
	ids, itemTypes, itemIDs, times := array(r, r.text), array(r, r.text), array(r, r.text), array(r, r.uint64)
	countries, categories, languages, viewers := array(r, r.text), array(r, r.text), array(r, r.text), array(r, r.text)
	flags := array(r, func() []string { return array(r, r.text) })
	stamps := array(r, func() byte { return r.take(1)[0] })
	ingestor := r.text()
	n := len(ids)
	if err := r.end(n, len(itemTypes), len(itemIDs), len(times), len(countries), len(categories), len(languages),
		len(viewers), len(flags), len(stamps)); err != nil {
		return nil, err
	}
	if n == 0 {
		return []EventRow{{Ingestor: ingestor}}, nil
	}
	rows := make([]EventRow, n)
	for i := range rows {
		rows[i] = EventRow{Ingestor: ingestor, Stamped: Stamp(stamps[i]), Event: event.Event{
			ID: ids[i], ItemType: itemTypes[i], ItemID: itemIDs[i], Time: time.UnixMilli(int64(times[i])).UTC(),
			Country: countries[i], Category: categories[i], Language: languages[i], Viewer: viewers[i], Flags: flags[i],
		}}
	}
	return rows, nil
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

func (r *reader) uint32() uint32 { return binary.LittleEndian.Uint32(r.take(4)) }

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

// array reads a length and as many values.
func array[T any](r *reader, value func() T) []T {
	var values []T
	for range r.length() {
		if r.err != nil {
			break
		}
		values = append(values, value())
	}
	return values
}

// end says what is wrong with a message that has been read: it was too short or too long, or an array is not of n values.
func (r *reader) end(n int, lengths ...int) error {
	switch {
	case r.err != nil:
		return r.err
	case len(r.rest) > 0:
		return fmt.Errorf("%d bytes follow the message", len(r.rest))
	}
	for _, length := range lengths {
		if length != n {
			return errUneven
		}
	}
	return nil
}
