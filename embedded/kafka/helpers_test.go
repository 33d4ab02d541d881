package kafka_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"topk/embedded/binary"
	"topk/internal/enginetest"
	"topk/internal/wire"
)

func TestMain(m *testing.M) { os.Exit(binary.Run(m)) }

const (
	partitions = 4
	deadline   = 30 * time.Second
	pollEvery  = 10 * time.Millisecond
)

var topics = []string{wire.EventsTopic, wire.CountsTopic}

// broker is `topk dev kafka` on one port and directory, through its restarts.
type broker struct {
	*enginetest.Process
	t       *testing.T
	address string
}

func startBroker(t *testing.T) *broker {
	b := &broker{t: t, address: enginetest.FreeAddress(t)}
	b.Process = enginetest.New(t, func(ctx context.Context) error {
		client := b.client()
		defer client.Close()
		found, err := kadm.NewClient(client).ListTopics(ctx, topics...)
		if err != nil {
			return err
		}
		return found.Error()
	}, "dev", "kafka", "--listen", b.address, "--data-dir", filepath.Join(t.TempDir(), "kafka"), "--partitions", strconv.Itoa(partitions))
	b.Start(t)
	return b
}

func (b *broker) client(options ...kgo.Opt) *kgo.Client {
	client, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(b.address),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.FetchMaxWait(100 * time.Millisecond),
		kgo.MetadataMinAge(50 * time.Millisecond), // else a restart is noticed after 5 s
	}, options...)...)
	require.NoError(b.t, err)
	return client
}

func (b *broker) producer(options ...kgo.Opt) *kgo.Client {
	return b.client(append([]kgo.Opt{kgo.TransactionalID("ingestor-1"), kgo.TransactionTimeout(10 * time.Second)}, options...)...)
}

// flush is one record to each partition of both topics, all with the same value.
func flush(value string) []*kgo.Record {
	var records []*kgo.Record
	for _, topic := range topics {
		for p := range partitions {
			records = append(records, &kgo.Record{Topic: topic, Partition: int32(p), Value: []byte(value)})
		}
	}
	return records
}

// produce begins a transaction and sends a flush.
func produce(ctx context.Context, client *kgo.Client, value string) error {
	if err := client.BeginTransaction(); err != nil {
		return err
	}
	return client.ProduceSync(ctx, flush(value)...).FirstErr()
}

func commit(ctx context.Context, client *kgo.Client, value string) error {
	if err := produce(ctx, client, value); err != nil {
		return err
	}
	return client.EndTransaction(ctx, kgo.TryCommit)
}

// committed counts the records of each value that a reader of committed records sees, from the start of the topics to
// the last stable offset.
func (b *broker) committed() map[string]int {
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	client := b.client(kgo.ConsumeTopics(topics...), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.KeepControlRecords(), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	defer client.Close()
	ends, err := kadm.NewClient(client).ListCommittedOffsets(ctx, topics...)
	require.NoError(b.t, err)
	require.NoError(b.t, ends.Error())
	left := map[string]int64{}
	ends.Each(func(o kadm.ListedOffset) {
		if o.Offset > 0 {
			left[partitionName(o.Topic, o.Partition)] = o.Offset
		}
	})
	seen := map[string]int{}
	for len(left) > 0 {
		fetches := client.PollFetches(ctx)
		require.NoError(b.t, fetches.Err(), "still to read: %v", left)
		fetches.EachRecord(func(r *kgo.Record) {
			if !r.Attrs.IsControl() {
				seen[string(r.Value)]++
			}
			if name := partitionName(r.Topic, r.Partition); r.Offset+1 >= left[name] {
				delete(left, name)
			}
		})
	}
	return seen
}

func partitionName(topic string, partition int32) string {
	return fmt.Sprintf("%s/%d", topic, partition)
}
