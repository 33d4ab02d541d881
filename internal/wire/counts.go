package wire

import "encoding/binary"

// AppendCountKey appends what counts are combined by: item, dimensions, second. Keys are what Counts.Add takes apart.
func AppendCountKey(b []byte, e *Event, second uint32) []byte {
	b = AppendString(b, e.ItemType)
	b = AppendString(b, e.ItemID)
	b = AppendString(b, e.Country)
	b = AppendString(b, e.Category)
	b = AppendString(b, e.Language)
	return binary.LittleEndian.AppendUint32(b, second)
}

// countTexts is the number of texts that begin a key.
const countTexts = 5

// Counts collects the combined rows of one message of the counts topic, column by column. The zero value is empty. It
// keeps its memory from one message to the next.
type Counts struct {
	columns [countTexts + 2][]byte
	rows    int
	bytes   int // of all columns
}

// Rows is the number of combined rows collected.
func (m *Counts) Rows() int { return m.rows }

// HasRoom reports whether a row whose key has keyBytes still fits into the message's bounds.
func (m *Counts) HasRoom(keyBytes int, ingestor string) bool {
	return m.rows < MaxMessageRows && m.bytes+keyBytes+8+framing(CountsHeader, len(m.columns), ingestor) <= MaxMessageBytes
}

// Add collects n views of a key that AppendCountKey made.
func (m *Counts) Add(key []byte, n uint64) {
	c := &m.columns
	m.bytes += len(key) + 8
	for i := range countTexts {
		end := int(key[0]) + 1
		if end > 0x80 {
			length, size := binary.Uvarint(key)
			end = size + int(length)
		}
		c[i] = append(c[i], key[:end]...)
		key = key[end:]
	}
	c[countTexts] = append(c[countTexts], key...)
	c[countTexts+1] = binary.LittleEndian.AppendUint64(c[countTexts+1], n)
	m.rows++
}

// AppendTo appends the message and forgets its rows. Without rows it is a heartbeat.
func (m *Counts) AppendTo(b []byte, ingestor string, sequence uint64) []byte {
	b = append(b, CountsHeader...)
	b = appendArrays(b, m.rows, m.columns[:])
	for i := range m.columns {
		m.columns[i] = m.columns[i][:0]
	}
	m.rows, m.bytes = 0, 0
	b = AppendString(b, ingestor)
	return binary.LittleEndian.AppendUint64(b, sequence)
}
