package kafka

import (
	"encoding/binary"
	"hash/crc32"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Where the fields of a record batch stand: Kafka's message format, version 2.
const (
	batchHeaderBytes = 61
	lengthAt         = 8 // counts from the field after it
	leaderEpochAt    = 12
	crcAt            = 17 // covers everything after it
	attributesAt     = 21
	lastDeltaAt      = 23
	producerAt       = 43
	producerEpochAt  = 51

	transactional = 1 << 4
	control       = 1 << 5
)

// batch is a record batch as it stands in a segment, header first.
type batch []byte

// nextBatch cuts the first whole and sound batch off a segment.
func nextBatch(segment []byte) (batch, bool) {
	if len(segment) < batchHeaderBytes {
		return nil, false
	}
	size := int64(binary.BigEndian.Uint32(segment[lengthAt:])) + lengthAt + 4
	if size < batchHeaderBytes || size > int64(len(segment)) {
		return nil, false
	}
	b := batch(segment[:size])
	sound := binary.BigEndian.Uint32(b[crcAt:]) == crc32.Checksum(b[crcAt+4:], castagnoli)
	return b, sound
}

func (b batch) firstOffset() int64   { return int64(binary.BigEndian.Uint64(b)) }
func (b batch) leaderEpoch() int32   { return int32(binary.BigEndian.Uint32(b[leaderEpochAt:])) }
func (b batch) producer() int64      { return int64(binary.BigEndian.Uint64(b[producerAt:])) }
func (b batch) producerEpoch() int16 { return int16(binary.BigEndian.Uint16(b[producerEpochAt:])) }
func (b batch) attributes() uint16   { return binary.BigEndian.Uint16(b[attributesAt:]) }
func (b batch) isControl() bool      { return b.attributes()&control != 0 }
func (b batch) inTransaction() bool  { return b.attributes()&(transactional|control) == transactional }

// end is the offset after the batch.
func (b batch) end() int64 {
	return b.firstOffset() + int64(binary.BigEndian.Uint32(b[lastDeltaAt:])) + 1
}

// marker is the control batch that ends a producer's transaction in a partition.
func marker(offset int64, leaderEpoch int32, producer int64, producerEpoch int16, commit bool, now time.Time) batch {
	key := kmsg.ControlRecordKey{Type: kmsg.ControlRecordKeyTypeAbort}
	if commit {
		key.Type = kmsg.ControlRecordKeyTypeCommit
	}
	value := kmsg.EndTxnMarker{}
	record := kmsg.Record{Key: key.AppendTo(nil), Value: value.AppendTo(nil)}
	record.Length = int32(len(record.AppendTo(nil)) - 1) // its own length takes one byte here and does not count
	b := kmsg.RecordBatch{
		FirstOffset:          offset,
		PartitionLeaderEpoch: leaderEpoch,
		Magic:                2,
		Attributes:           transactional | control,
		FirstTimestamp:       now.UnixMilli(),
		MaxTimestamp:         now.UnixMilli(),
		ProducerID:           producer,
		ProducerEpoch:        producerEpoch,
		FirstSequence:        -1,
		NumRecords:           1,
		Records:              record.AppendTo(nil),
	}
	raw := batch(b.AppendTo(nil))
	binary.BigEndian.PutUint32(raw[lengthAt:], uint32(len(raw)-lengthAt-4))
	binary.BigEndian.PutUint32(raw[crcAt:], crc32.Checksum(raw[crcAt+4:], castagnoli))
	return raw
}
