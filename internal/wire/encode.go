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

// A message is one row of arrays: ClickHouse fills ten virtual columns (topic, offset, headers, ...) for each row of a
// message, which costs more than everything behind it when views are rows. The queue views join the arrays.
//
// EventsHeader and CountsHeader start every message of their topic: RowBinaryWithNamesAndTypes, that is the number of
// columns, their names, their types. Names, types and order are those of migrations/clickhouse/*_queue.
var (
	CountsHeader = appendHeader(nil, [][2]string{
		{"item_type", "Array(String)"}, {"item_id", "Array(String)"}, {"country", "Array(String)"},
		{"category", "Array(String)"}, {"language", "Array(String)"}, {"second", "Array(DateTime('UTC'))"},
		{"n", "Array(UInt64)"}, {"ingestor", "String"}, {"sequence", "UInt64"},
	})
	EventsHeader = appendHeader(nil, [][2]string{
		{"event_id", "Array(String)"}, {"item_type", "Array(String)"}, {"item_id", "Array(String)"},
		{"event_time", "Array(DateTime64(3, 'UTC'))"}, {"country", "Array(String)"}, {"category", "Array(String)"},
		{"language", "Array(String)"}, {"viewer", "Array(String)"}, {"flags", "Array(Array(String))"},
		{"stamped", "Array(UInt8)"}, {"ingestor", "String"},
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

// uvarintBytes is the size of a length as LEB128.
func uvarintBytes(n int) int { return (bits.Len(uint(n)|1) + 6) / 7 }

// framing bounds what a message takes besides its columns: header, the length of each array, ingestor, sequence.
func framing(header []byte, arrays int, ingestor string) int {
	return len(header) + arrays*uvarintBytes(MaxMessageRows) + uvarintBytes(len(ingestor)) + len(ingestor) + 8
}

// appendArrays appends columns of encoded values as arrays of rows values.
func appendArrays(b []byte, rows int, columns [][]byte) []byte {
	for _, column := range columns {
		b = binary.AppendUvarint(b, uint64(rows))
		b = append(b, column...)
	}
	return b
}
