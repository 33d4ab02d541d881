package clickhouse_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"topk/internal/enginetest"
	"topk/internal/wire"
)

// Rows flow from Kafka into the tables, consumers start by themselves after every kind of end, and no row is lost or
// counted twice.
func TestKafkaSurvivesRestarts(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(2, wire.EventsTopic, wire.CountsTopic))
	require.NoError(t, err)
	defer cluster.Close()
	broker := cluster.ListenAddrs()[0]
	var sessionTimeout atomic.Int32
	cluster.ControlKey(kmsg.JoinGroup.Int16(), func(request kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		sessionTimeout.Store(request.(*kmsg.JoinGroupRequest).SessionTimeoutMillis)
		return nil, nil, false
	})
	producer, err := kgo.NewClient(kgo.SeedBrokers(broker))
	require.NoError(t, err)
	defer producer.Close()
	node := enginetest.StartClickHouse(t, broker)
	applySchema(t, node)

	var sequence, rows uint64
	produce := func(messages, hours int) {
		for range messages {
			sequence++
			rows += uint64(hours)
			require.NoError(t, producer.ProduceSync(t.Context(), countsMessage(sequence, hours)).FirstErr())
		}
	}
	landed := func() {
		t.Helper()
		want := fmt.Sprintf("%d\t%d", rows, rows*2)
		start := time.Now()
		require.Eventually(t, func() bool {
			return node.Query(t, "SELECT count(), sum(n) FROM topk.counts_second FINAL") == want
		}, 90*time.Second, 100*time.Millisecond)
		t.Logf("%d rows landed after %s", rows, time.Since(start).Round(100*time.Millisecond))
		require.Empty(t, node.Query(t, "SELECT error FROM topk.dead_letters"))
	}
	// More partitions in one block than ClickHouse allows by default. The push runs in the background, under the
	// default profile.
	produce(1, 130)
	landed()

	require.NoError(t, node.Stop(syscall.SIGTERM))
	produce(10, 3)
	require.NoError(t, node.Launch())
	landed()

	produce(10, 3)
	node.Kill()
	produce(10, 3)
	require.NoError(t, node.Launch())
	landed()
	require.Equal(t, int32(6000), sessionTimeout.Load(), "what the consumers ask of the broker, in milliseconds")
}

// applySchema runs functions and migrations as they are, one file a statement.
func applySchema(t *testing.T, node *enginetest.ClickHouse) {
	t.Helper()
	node.Query(t, "CREATE DATABASE topk")
	functions, err := filepath.Glob("../../udf/*.sql")
	require.NoError(t, err)
	migrations, err := filepath.Glob("../../migrations/clickhouse/*.up.sql")
	require.NoError(t, err)
	require.NotEmpty(t, migrations)
	sort.Strings(migrations)
	for _, path := range append(functions, migrations...) {
		statement, err := os.ReadFile(path)
		require.NoError(t, err)
		node.Query(t, string(statement))
	}
}

// countsMessage holds one row of n = 2 in each of so many hours.
func countsMessage(sequence uint64, hours int) *kgo.Record {
	var message wire.Counts
	for hour := range hours {
		event := wire.Event{ItemType: []byte("video"), ItemID: []byte("v1"), Country: []byte("IN")}
		message.Add(wire.AppendCountKey(nil, &event, uint32(1764547200+hour*3600)), 2)
	}
	return &kgo.Record{Topic: wire.CountsTopic, Value: message.AppendTo(nil, "test@1", sequence), Headers: []kgo.RecordHeader{
		{Key: wire.HeaderWatermark, Value: []byte("1764547200000")}, {Key: wire.HeaderPartitions, Value: []byte("2")}}}
}
