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

func encodeCounts(rows ...countRow) []byte {
	to := columns("item_type|item_id|country|category|language|second|n|ingestor|sequence",
		"String|String|String|String|String|DateTime('UTC')|UInt64|String|UInt64")
	for _, r := range rows {
		to = text(to, r.itemType, r.itemID, r.country, r.category, r.language)
		to = binary.LittleEndian.AppendUint32(to, r.second)
		to = binary.LittleEndian.AppendUint64(to, r.n)
		to = text(to, r.ingestor)
		to = binary.LittleEndian.AppendUint64(to, r.sequence)
	}
	return to
}

func encodeEvents(rows ...eventRow) []byte {
	to := columns("event_id|item_type|item_id|event_time|country|category|language|viewer|flags|ingestor",
		"String|String|String|DateTime64(3, 'UTC')|String|String|String|String|Array(String)|String")
	for _, r := range rows {
		to = text(to, r.eventID, r.itemType, r.itemID)
		to = binary.LittleEndian.AppendUint64(to, uint64(r.milliseconds))
		to = text(to, r.country, "music", "en", "viewer")
		to = binary.AppendUvarint(to, uint64(len(r.flags)))
		to = text(text(to, r.flags...), "test@1")
	}
	return to
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
