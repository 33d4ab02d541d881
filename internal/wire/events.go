package wire

import "encoding/binary"

// Event is one event of the events topic. Its slices may point anywhere: encoding copies them.
type Event struct {
	ID, ItemType, ItemID, Country, Category, Language, Viewer []byte
	Millis                                                    int64 // event time, epoch milliseconds
	Flags                                                     [][]byte
	Stamped                                                   Stamp
}

// Stamp says whose clock gave an event its time. A retry of a stamped event may have another time, which is looked for
// where repeats are measured.
type Stamp uint8

// Whose clock it was.
const (
	OwnTime Stamp = iota // the client's: a retry repeats it
	Untimed              // the ingestor's: the client gave none
	Ahead                // the ingestor's: the client's time was too far ahead
)

// Events collects the events of one message of the events topic, column by column. The zero value is empty. It keeps its
// memory from one message to the next.
type Events struct {
	columns [10][]byte
	rows    int
	bytes   int // of all columns
}

// Rows is the number of events collected.
func (m *Events) Rows() int { return m.rows }

// HasRoom reports whether an event of rowBytes still fits into the message's bounds.
func (m *Events) HasRoom(rowBytes int, ingestor string) bool {
	return m.rows < MaxMessageRows && m.bytes+rowBytes+framing(EventsHeader, len(m.columns), ingestor) <= MaxMessageBytes
}

// Add collects an event and returns how many bytes it takes.
func (m *Events) Add(e *Event) int {
	c := &m.columns
	c[0] = AppendString(c[0], e.ID)
	c[1] = AppendString(c[1], e.ItemType)
	c[2] = AppendString(c[2], e.ItemID)
	c[3] = binary.LittleEndian.AppendUint64(c[3], uint64(e.Millis))
	c[4] = AppendString(c[4], e.Country)
	c[5] = AppendString(c[5], e.Category)
	c[6] = AppendString(c[6], e.Language)
	c[7] = AppendString(c[7], e.Viewer)
	c[8] = binary.AppendUvarint(c[8], uint64(len(e.Flags)))
	for _, flag := range e.Flags {
		c[8] = AppendString(c[8], flag)
	}
	c[9] = append(c[9], byte(e.Stamped))
	before := m.bytes
	m.bytes = 0
	for i := range c {
		m.bytes += len(c[i])
	}
	m.rows++
	return m.bytes - before
}

// AppendTo appends the message and forgets its events. Without events it is a heartbeat.
func (m *Events) AppendTo(b []byte, ingestor string) []byte {
	b = append(b, EventsHeader...)
	b = appendArrays(b, m.rows, m.columns[:])
	m.Reset()
	return AppendString(b, ingestor)
}

// Reset forgets the events and keeps the memory.
func (m *Events) Reset() {
	for i := range m.columns {
		m.columns[i] = m.columns[i][:0]
	}
	m.rows, m.bytes = 0, 0
}
