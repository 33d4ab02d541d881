package kafka

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

const testPartitions = 3

func testConfig(t *testing.T) Config {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	return Config{
		Listen: address, DataDir: t.TempDir(), Topics: []string{"a", "b"}, Partitions: testPartitions,
		RetentionBytes: MinRetentionBytes,
	}
}

// run serves until the returned function is called.
func run(t *testing.T, c Config) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, c, slog.New(slog.DiscardHandler)) }()
	client := connect(t, c)
	require.Eventually(t, func() bool {
		found, err := kadm.NewClient(client).ListTopics(t.Context(), c.Topics...)
		return err == nil && found.Error() == nil
	}, 10*time.Second, 10*time.Millisecond)
	return func() {
		cancel()
		require.NoError(t, <-ended)
	}
}

func connect(t *testing.T, c Config, options ...kgo.Opt) *kgo.Client {
	client, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(c.Listen), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.MetadataMinAge(50 * time.Millisecond),
	}, options...)...)
	require.NoError(t, err)
	t.Cleanup(client.CloseAllowingRebalance)
	return client
}

// commit sends one record to every partition in one transaction.
func commitTo(t *testing.T, c Config, client *kgo.Client, value string, size int) {
	require.NoError(t, client.BeginTransaction())
	for _, topic := range c.Topics {
		for p := range testPartitions {
			record := &kgo.Record{Topic: topic, Partition: int32(p), Key: []byte(value), Value: make([]byte, size)}
			require.NoError(t, client.ProduceSync(t.Context(), record).FirstErr())
		}
	}
	require.NoError(t, client.EndTransaction(t.Context(), kgo.TryCommit))
}

// read counts the committed records by key.
func read(t *testing.T, c Config) map[string]int {
	client := connect(t, c, kgo.ConsumeTopics(c.Topics...), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.KeepControlRecords(), kgo.FetchMaxWait(50*time.Millisecond))
	ends, err := kadm.NewClient(client).ListCommittedOffsets(t.Context(), c.Topics...)
	require.NoError(t, err)
	left := map[string]int64{}
	ends.Each(func(o kadm.ListedOffset) {
		if o.Offset > 0 {
			left[fmt.Sprint(o.Topic, o.Partition)] = o.Offset
		}
	})
	seen := map[string]int{}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for len(left) > 0 {
		fetches := client.PollFetches(ctx)
		require.NoError(t, fetches.Err())
		fetches.EachRecord(func(r *kgo.Record) {
			if !r.Attrs.IsControl() {
				seen[string(r.Key)]++
			}
			if r.Offset+1 >= left[fmt.Sprint(r.Topic, r.Partition)] {
				delete(left, fmt.Sprint(r.Topic, r.Partition))
			}
		})
	}
	return seen
}

// dropLastBatch takes back the last thing that was written to a partition, as if the kill had come before.
func dropLastBatch(t *testing.T, c Config, partition string) {
	path := filepath.Join(c.DataDir, "partitions", partition, "0")
	segment, err := os.ReadFile(path + ".dat")
	require.NoError(t, err)
	at, batches, last := 0, 0, 0
	for b, ok := nextBatch(segment); ok; b, ok = nextBatch(segment[at:]) {
		last = at
		at += len(b)
		batches++
	}
	require.NoError(t, os.Truncate(path+".dat", int64(last)))
	require.NoError(t, os.Truncate(path+".idx", int64((batches-1)*indexEntryBytes)))
}

// crash makes a clean stop look like a kill in the middle of a commit: some partitions have their marker and some not.
func crash(t *testing.T, c Config, in *intent) {
	require.NoError(t, os.RemoveAll(filepath.Join(c.DataDir, "session_state.json")))
	for _, partition := range []string{"a-1", "b-0", "b-2"} {
		dropLastBatch(t, c, partition)
		require.NoError(t, os.Remove(filepath.Join(c.DataDir, "partitions", partition, "snapshot.json")))
	}
	intents, err := openIntents(filepath.Join(c.DataDir, intentFile))
	require.NoError(t, err)
	require.NoError(t, intents.write(in))
	require.NoError(t, intents.Close())
}

func TestCommitThatWasCutOffIsFinished(t *testing.T) {
	c := testConfig(t)
	stop := run(t, c)
	producer := connect(t, c, kgo.TransactionalID("x"))
	commitTo(t, c, producer, "first", 1)
	commitTo(t, c, producer, "torn", 1)
	id, epoch, err := producer.ProducerID(t.Context())
	require.NoError(t, err)
	producer.CloseAllowingRebalance()
	stop()
	crash(t, c, &intent{producer: id, epoch: epoch - 1, commit: true}) // the answer to the commit has moved the epoch on

	stop = run(t, c)
	defer func() { stop() }()
	whole := len(c.Topics) * testPartitions
	require.Equal(t, map[string]int{"first": whole, "torn": whole}, read(t, c))
	commitTo(t, c, connect(t, c, kgo.TransactionalID("x")), "next", 1)
	require.Equal(t, whole, read(t, c)["next"])
}

func TestTransactionWithoutIntentIsAbortedAndItsProducerFenced(t *testing.T) {
	c := testConfig(t)
	stop := run(t, c)
	producer := connect(t, c, kgo.TransactionalID("x"))
	commitTo(t, c, producer, "first", 1)
	require.NoError(t, producer.BeginTransaction())
	require.NoError(t, producer.ProduceSync(t.Context(), &kgo.Record{Topic: "a", Partition: 1, Key: []byte("open")}).FirstErr())
	stop()
	require.NoError(t, os.Remove(filepath.Join(c.DataDir, "session_state.json")), "the clean stop kept the transaction open")
	// The index entry of the last batch was not written yet.
	index := filepath.Join(c.DataDir, "partitions", "a-1", "0.idx")
	info, err := os.Stat(index)
	require.NoError(t, err)
	require.NoError(t, os.Truncate(index, info.Size()-indexEntryBytes-4))
	require.NoError(t, os.Remove(filepath.Join(c.DataDir, "partitions", "a-1", "snapshot.json")))

	stop = run(t, c)
	defer func() { stop() }()
	require.Error(t, producer.EndTransaction(t.Context(), kgo.TryCommit))
	whole := len(c.Topics) * testPartitions
	require.Equal(t, map[string]int{"first": whole}, read(t, c))
}

func TestCutOffTailsAreDropped(t *testing.T) {
	c := testConfig(t)
	stop := run(t, c)
	commitTo(t, c, connect(t, c, kgo.TransactionalID("x")), "first", 1)
	stop()
	for _, name := range []string{"pids.log", "groups.log", "partitions/a-0/0.dat"} {
		require.NoError(t, appendTo(filepath.Join(c.DataDir, name), []byte("half an entry, or a batch")))
	}
	require.NoError(t, os.RemoveAll(filepath.Join(c.DataDir, "session_state.json")))
	stop = run(t, c)
	defer func() { stop() }()
	whole := len(c.Topics) * testPartitions
	commitTo(t, c, connect(t, c, kgo.TransactionalID("x")), "second", 1)
	require.Equal(t, map[string]int{"first": whole, "second": whole}, read(t, c))
}

func TestLogStaysNearItsBound(t *testing.T) {
	c := testConfig(t)
	c.RetentionBytes = 12 << 20
	cluster, err := open(c, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer cluster.Close()
	require.NoError(t, ensureTopics(t.Context(), c, slog.New(slog.DiscardHandler)))
	producer := connect(t, c, kgo.TransactionalID("x"), kgo.ProducerBatchCompression(kgo.NoCompression()))
	for i := range 40 {
		commitTo(t, c, producer, fmt.Sprint(i), 200<<10) // 48 MB in all
	}
	cluster.ApplyRetention()
	var size int64
	require.NoError(t, filepath.WalkDir(c.DataDir, func(_ string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			info, _ := entry.Info()
			size += info.Size()
		}
		return err
	}))
	const segment = 1 << 20 // whole segments are deleted
	require.LessOrEqual(t, size, c.RetentionBytes+2*segment*int64(testPartitions*len(c.Topics)))
	require.Greater(t, size, c.RetentionBytes/2)
	require.Positive(t, read(t, c)["39"], "the newest records are there")
}

func TestIntentSurvivesAndSpoiledOnesDoNot(t *testing.T) {
	in := intent{producer: 1<<62 + 3, epoch: 32767, commit: true}
	raw := encodeIntent(&in)
	require.Equal(t, &in, decodeIntent(raw))
	raw[4]++
	require.Nil(t, decodeIntent(raw))
	require.Nil(t, decodeIntent(encodeIntent(nil)))
	require.Nil(t, decodeIntent([intentBytes]byte{}))
}

func TestConfigReportsEveryMistake(t *testing.T) {
	err := Config{Listen: "0.0.0.0:9092", RetentionBytes: 1}.Validate()
	for _, field := range []string{"listen", "data-dir", "partitions", "retention-bytes", "topics"} {
		require.ErrorContains(t, err, field+":")
	}
}

func FuzzBatches(f *testing.F) {
	f.Add([]byte(marker(7, 1, 2, 3, true, time.UnixMilli(4))))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, segment []byte) {
		b, ok := nextBatch(segment)
		if !ok {
			return
		}
		require.GreaterOrEqual(t, len(b), batchHeaderBytes)
		require.LessOrEqual(t, len(b), len(segment))
		_ = b.end()
	})
}

func FuzzLog(f *testing.F) {
	f.Add(logEntry([]byte(`{"type":"init"}`)))
	f.Add([]byte{255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, raw []byte) {
		entries, sound := splitLog(raw)
		require.LessOrEqual(t, sound, len(raw))
		again, all := splitLog(raw[:sound])
		require.Equal(t, sound, all)
		require.Len(t, again, len(entries))
	})
}
