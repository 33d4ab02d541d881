package migrations

import (
	"context"
	"encoding/binary"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"topk/internal/enginetest"
	"topk/internal/wire"
)

const (
	settleTimeout  = 2 * time.Minute // 500 partitions in each of ten tables take a busy machine most of a minute
	settleInterval = 50 * time.Millisecond
)

// countRow and eventRow are rows of the topics as the queue tables declare them.
type countRow struct {
	itemType, itemID, country, category, language string
	second                                        uint32
	n                                             uint64
	ingestor                                      string
	sequence                                      uint64
}

type eventRow struct {
	eventID, itemType, itemID string
	milliseconds              int64
	country                   string
	flags                     []string
	stamped                   byte
}

// text appends strings as RowBinary has them.
func text(to []byte, values ...string) []byte {
	for _, v := range values {
		to = binary.AppendUvarint(to, uint64(len(v)))
		to = append(to, v...)
	}
	return to
}

func columns(names, types string) []byte {
	n := strings.Split(names, "|")
	to := binary.AppendUvarint(nil, uint64(len(n)))
	return text(text(to, n...), strings.Split(types, "|")...)
}

// array appends an array of one value of each row.
func array[T any](to []byte, rows []T, value func([]byte, T) []byte) []byte {
	to = binary.AppendUvarint(to, uint64(len(rows)))
	for _, row := range rows {
		to = value(to, row)
	}
	return to
}

// texts appends arrays of texts, one of each function.
func texts[T any](to []byte, rows []T, values ...func(T) string) []byte {
	for _, value := range values {
		to = array(to, rows, func(to []byte, row T) []byte { return text(to, value(row)) })
	}
	return to
}

const (
	countsColumns = "item_type|item_id|country|category|language|second|n|ingestor|sequence"
	countsTypes   = "Array(String)|Array(String)|Array(String)|Array(String)|Array(String)|Array(DateTime('UTC'))|Array(UInt64)|String|UInt64"
)

// encodeCounts makes a message. Its ingestor and sequence are those of the first row.
func encodeCounts(rows ...countRow) []byte {
	var first countRow
	if len(rows) > 0 {
		first = rows[0]
	}
	return encodeCountsOf(first.ingestor, first.sequence, rows...)
}

func encodeCountsOf(ingestor string, sequence uint64, rows ...countRow) []byte {
	to := texts(columns(countsColumns, countsTypes), rows,
		func(r countRow) string { return r.itemType }, func(r countRow) string { return r.itemID },
		func(r countRow) string { return r.country }, func(r countRow) string { return r.category },
		func(r countRow) string { return r.language })
	to = array(to, rows, func(to []byte, r countRow) []byte { return binary.LittleEndian.AppendUint32(to, r.second) })
	to = array(to, rows, func(to []byte, r countRow) []byte { return binary.LittleEndian.AppendUint64(to, r.n) })
	return binary.LittleEndian.AppendUint64(text(to, ingestor), sequence)
}

func encodeEvents(rows ...eventRow) []byte {
	to := texts(columns("event_id|item_type|item_id|event_time|country|category|language|viewer|flags|stamped|ingestor",
		"Array(String)|Array(String)|Array(String)|Array(DateTime64(3, 'UTC'))|Array(String)|Array(String)|Array(String)|Array(String)|Array(Array(String))|Array(UInt8)|String"),
		rows, func(r eventRow) string { return r.eventID }, func(r eventRow) string { return r.itemType },
		func(r eventRow) string { return r.itemID })
	to = array(to, rows, func(to []byte, r eventRow) []byte {
		return binary.LittleEndian.AppendUint64(to, uint64(r.milliseconds))
	})
	to = texts(to, rows, func(r eventRow) string { return r.country }, func(eventRow) string { return "music" },
		func(eventRow) string { return "en" }, func(eventRow) string { return "viewer" })
	to = array(to, rows, func(to []byte, r eventRow) []byte {
		return array(to, r.flags, func(to []byte, flag string) []byte { return text(to, flag) })
	})
	to = array(to, rows, func(to []byte, r eventRow) []byte { return append(to, r.stamped) })
	return text(to, "test@1")
}

// pipe is Kafka and a ClickHouse with the whole schema.
type pipe struct {
	*enginetest.ClickHouse
	producer *kgo.Client
}

func newPipe(t *testing.T, partitions int) *pipe {
	t.Helper()
	return newPipeWith(t, partitions, func(*pipe) {})
}

// newPipeWith calls before when Kafka is there and the schema is not.
func newPipeWith(t *testing.T, partitions int, before func(*pipe)) *pipe {
	t.Helper()
	broker := enginetest.StartKafka(t, partitions, wire.CountsTopic, wire.EventsTopic)
	producer, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchMaxBytes(enginetest.MaxMessageBytes), kgo.MaxBufferedBytes(256<<20))
	require.NoError(t, err)
	t.Cleanup(producer.Close)
	p := &pipe{ClickHouse: enginetest.StartClickHouse(t, broker), producer: producer}
	before(p)
	applySchema(t, p.ClickHouse)
	return p
}

// send produces one message and waits until it is acknowledged.
func (p *pipe) send(t *testing.T, topic string, partition int32, value []byte) {
	t.Helper()
	p.sendWith(t, topic, partition, value, strconv.FormatInt(time.Now().UnixMilli(), 10))
}

func (p *pipe) sendWith(t *testing.T, topic string, partition int32, value []byte, watermark string) {
	t.Helper()
	record := &kgo.Record{Topic: topic, Partition: partition, Value: value, Headers: []kgo.RecordHeader{
		{Key: wire.HeaderWatermark, Value: []byte(watermark)}, {Key: wire.HeaderPartitions, Value: []byte("1")}}}
	require.NoError(t, p.producer.ProduceSync(context.Background(), record).FirstErr())
}

// eventually polls a query until it answers want.
func (p *pipe) eventually(t *testing.T, want, query string) {
	t.Helper()
	var got string
	var err error
	settled := func() bool {
		got, err = p.Try(query)
		return err == nil && got == want
	}
	ticker := time.NewTicker(settleInterval)
	defer ticker.Stop()
	for deadline := time.Now().Add(settleTimeout); !settled() && time.Now().Before(deadline); {
		<-ticker.C
	}
	require.NoError(t, err, query)
	require.Equal(t, want, got, query)
}
