package wire

import (
	"encoding/binary"
	"math/bits"
)

// Bounds of one Kafka message. ClickHouse never splits a message between blocks, and brokers refuse more than 1 MiB as
// they come (message.max.bytes), headers and batch included.
const (
	MaxMessageRows  = 20_000
	MaxMessageBytes = 900_000
)

// EventsHeader and CountsHeader start every message of their topic: RowBinaryWithNamesAndTypes, that is the number of
// columns, their names, their types. Names, types and order are those of migrations/clickhouse/*_queue.
var (
	CountsHeader = appendHeader(nil, [][2]string{
		{"item_type", "String"}, {"item_id", "String"}, {"country", "String"}, {"category", "String"}, {"language", "String"},
		{"second", "DateTime('UTC')"}, {"n", "UInt64"}, {"ingestor", "String"}, {"sequence", "UInt64"},
	})
	EventsHeader = appendHeader(nil, [][2]string{
		{"event_id", "String"}, {"item_type", "String"}, {"item_id", "String"}, {"event_time", "DateTime64(3, 'UTC')"},
		{"country", "String"}, {"category", "String"}, {"language", "String"}, {"viewer", "String"},
		{"flags", "Array(String)"}, {"ingestor", "String"},
	})
)

func appendHeader(b []byte, columns [][2]string) []byte {
	b = binary.AppendUvarint(b, uint64(len(columns)))
	for field := range 2 {
		for _, column := range columns {
			b = AppendString(b, column[field])
		}
	}
	return b
}

// AppendString appends a String: its length as LEB128, then its bytes.
func AppendString[S ~string | ~[]byte](b []byte, s S) []byte {
	if len(s) < 0x80 {
		b = append(b, byte(len(s)))
	} else {
		b = binary.AppendUvarint(b, uint64(len(s)))
	}
	return append(b, s...)
}

// StringBytes is the size of a String of n bytes.
func StringBytes(n int) int { return (bits.Len(uint(n)|1)+6)/7 + n }

// Event is one row of the events topic. Its slices may point anywhere: encoding copies them.
type Event struct {
	ID, ItemType, ItemID, Country, Category, Language, Viewer []byte
	Millis                                                    int64 // event time, epoch milliseconds
	Flags                                                     [][]byte
}

// AppendEvent appends a row of the events topic.
func AppendEvent(b []byte, e *Event, ingestor string) []byte {
	b = AppendString(b, e.ID)
	b = AppendString(b, e.ItemType)
	b = AppendString(b, e.ItemID)
	b = binary.LittleEndian.AppendUint64(b, uint64(e.Millis))
	b = AppendString(b, e.Country)
	b = AppendString(b, e.Category)
	b = AppendString(b, e.Language)
	b = AppendString(b, e.Viewer)
	b = binary.AppendUvarint(b, uint64(len(e.Flags)))
	for _, flag := range e.Flags {
		b = AppendString(b, flag)
	}
	return AppendString(b, ingestor)
}

// AppendEventsHeartbeat appends the row that says nothing but "the partition is alive": an empty item type.
func AppendEventsHeartbeat(b []byte, ingestor string) []byte {
	return AppendEvent(b, &Event{}, ingestor)
}

// AppendCountKey appends the first columns of a counts row, which are also what its combining is keyed by: item,
// dimensions, second.
func AppendCountKey(b []byte, e *Event, second uint32) []byte {
	b = AppendString(b, e.ItemType)
	b = AppendString(b, e.ItemID)
	b = AppendString(b, e.Country)
	b = AppendString(b, e.Category)
	b = AppendString(b, e.Language)
	return binary.LittleEndian.AppendUint32(b, second)
}

// AppendCount appends a row of the counts topic, whose key is what AppendCountKey made.
func AppendCount(b, key []byte, n uint64, ingestor string, sequence uint64) []byte {
	b = append(b, key...)
	b = binary.LittleEndian.AppendUint64(b, n)
	b = AppendString(b, ingestor)
	return binary.LittleEndian.AppendUint64(b, sequence)
}

// CountBytes is the size of the row that AppendCount makes of a key of keyBytes.
func CountBytes(keyBytes int, ingestor string) int {
	return keyBytes + 8 + StringBytes(len(ingestor)) + 8
}

// AppendCountsHeartbeat appends the row that says nothing but "the partition is alive": n = 0.
func AppendCountsHeartbeat(b []byte, ingestor string, sequence uint64) []byte {
	b = append(b, 0, 0, 0, 0, 0, 0, 0, 0, 0) // five empty strings, second 0
	b = binary.LittleEndian.AppendUint64(b, 0)
	b = AppendString(b, ingestor)
	return binary.LittleEndian.AppendUint64(b, sequence)
}
