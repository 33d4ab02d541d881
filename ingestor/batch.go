package ingestor

import (
	"hash/maphash"

	"github.com/cespare/xxhash/v2"

	"topk/internal/event"
	"topk/internal/wire"
)

// maxEventRowBytes bounds one row of the events topic: the limits of its fields, and a length of at most two bytes each.
const maxEventRowBytes = event.MaxEventIDBytes + 32 + event.MaxItemIDBytes + 8 + 2 + event.MaxCategoryBytes + 3 +
	event.MaxViewerBytes + event.MaxFlags*(event.MaxFlagBytes+2) + 1 + 80 + 10*2

// batch is what one transaction carries: the events as they go on the wire, and their counts. It is filled under the
// accumulator's lock, then belongs to the flush.
type batch struct {
	ingestor string
	parts    []part

	bytes, rows int   // memory taken, combined rows
	accepted    int   // events
	newest      int64 // newest second of its events, epoch milliseconds, 0 without any
	posted      int64 // watermark posted by a replay, 0 without one
	mark        int64 // watermark that the flush sends

	done chan struct{} // closed when err is final
	err  error         // nil: committed
}

// part is a batch's share of one partition, of both topics.
type part struct {
	open   wire.Events // the events that no message in events holds yet
	events messages
	counts combiner
	out    messages // counts, encoded by the flush
}

func newBatch(ingestor string, partitions int) *batch {
	b := &batch{ingestor: ingestor, parts: make([]part, partitions), done: make(chan struct{})}
	seed := maphash.MakeSeed()
	for i := range b.parts {
		b.parts[i].counts.seed = seed
	}
	return b
}

// hashItem is the item hash that chooses a partition. It is the same in every ingestor, so an item's rows meet in one
// partition of each topic.
func hashItem(e *wire.Event) uint64 {
	var buf [32 + 1 + event.MaxItemIDBytes]byte
	b := append(buf[:0], e.ItemType...)
	b = append(b, 0) // no item type contains it
	return xxhash.Sum64(append(b, e.ItemID...))
}

// add takes one event whose time is final.
func (b *batch) add(e *parsedEvent) {
	p := &b.parts[e.hash%uint64(len(b.parts))]
	b.bytes += p.addEvent(&e.Event, b.ingestor)
	second := e.Millis / 1000
	if len(e.Flags) == 0 {
		before := len(p.counts.arena)
		if p.counts.add(&e.Event, uint32(second)) {
			b.rows++
			b.bytes += len(p.counts.arena) - before + combinedBytes
		}
	}
	b.newest = max(b.newest, second*1000)
	b.accepted++
}

func (b *batch) full() bool { return b.rows >= maxBatchRows || b.bytes >= maxBatchBytes }

// finish tells everyone who waits for the batch how it went.
func (b *batch) finish(err error) {
	b.err = err
	close(b.done)
}

// emptied is a batch over the memory of a committed one. The buffers of a failed one may still be on their way, and are
// left to the garbage collector.
func (b *batch) emptied() *batch {
	for i := range b.parts {
		b.parts[i].open.Reset()
		b.parts[i].events.reset()
		b.parts[i].counts.reset()
		b.parts[i].out.reset()
	}
	return &batch{ingestor: b.ingestor, parts: b.parts, done: make(chan struct{})}
}

// addEvent encodes an event and returns how many bytes it takes.
func (p *part) addEvent(e *wire.Event, ingestor string) int {
	if !p.open.HasRoom(maxEventRowBytes, ingestor) {
		p.sealEvents(ingestor)
	}
	return p.open.Add(e)
}

// sealEvents makes a message of the open events, a heartbeat when there are none.
func (p *part) sealEvents(ingestor string) {
	p.events.begin()
	p.events.buf = p.open.AppendTo(p.events.buf, ingestor)
}

// endEvents makes a message of what is still open. Every partition gets at least one, and an empty one at the end if apart.
func (p *part) endEvents(ingestor string, apart bool) {
	if p.open.Rows() > 0 || len(p.events.starts) == 0 {
		p.sealEvents(ingestor)
	}
	if apart {
		p.sealEvents(ingestor)
	}
}

// encodeCounts writes the combined rows as messages, each with its own sequence, a heartbeat when there are none and at the end if
// apart, and returns the last sequence used. It leaves open empty.
func (p *part) encodeCounts(open *wire.Counts, ingestor string, sequence uint64, apart bool) uint64 {
	seal := func() {
		sequence++
		p.out.begin()
		p.out.buf = open.AppendTo(p.out.buf, ingestor, sequence)
	}
	c := &p.counts
	for i := range c.entries {
		e := &c.entries[i]
		if !open.HasRoom(int(e.bytes), ingestor) {
			seal()
		}
		open.Add(c.key(e), e.n)
	}
	if open.Rows() > 0 || len(p.out.starts) == 0 {
		seal()
	}
	if apart {
		seal()
	}
	return sequence
}

// messages holds the messages of one partition of a topic, one after another in one buffer.
type messages struct {
	buf    []byte
	starts []int // of each message in buf
}

// begin starts a new message.
func (m *messages) begin() { m.starts = append(m.starts, len(m.buf)) }

// each calls f with every message and whether it is the last.
func (m *messages) each(f func(value []byte, last bool)) {
	for i, start := range m.starts {
		last := i == len(m.starts)-1
		end := len(m.buf)
		if !last {
			end = m.starts[i+1]
		}
		f(m.buf[start:end:end], last)
	}
}

func (m *messages) reset() {
	m.buf, m.starts = emptied(m.buf), m.starts[:0]
}
