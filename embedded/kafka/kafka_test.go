package kafka_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

const whole = 2 * partitions // records of a flush

func TestKillKeepsCommittedRecordsOffsetsAndTransactionState(t *testing.T) {
	ctx := t.Context()
	b := startBroker(t)
	producer := b.producer()
	for i := range 3 {
		require.NoError(t, commit(ctx, producer, fmt.Sprint("committed-", i)))
	}
	require.NoError(t, produce(ctx, producer, "aborted"))
	require.NoError(t, producer.EndTransaction(ctx, kgo.TryAbort))
	admin := kadm.NewClient(producer)
	offsets := kadm.Offsets{}
	offsets.AddOffset(topics[0], 1, 7, -1)
	require.NoError(t, admin.CommitAllOffsets(ctx, "reader", offsets))
	require.NoError(t, produce(ctx, producer, "open"))
	producer.CloseAllowingRebalance()

	require.Error(t, b.Stop(syscall.SIGKILL))
	b.Start(t)

	want := map[string]int{"committed-0": whole, "committed-1": whole, "committed-2": whole}
	require.Equal(t, want, b.committed())
	successor := b.producer()
	defer successor.Close()
	kept, err := kadm.NewClient(successor).FetchOffsets(ctx, "reader")
	require.NoError(t, err)
	offset, ok := kept.Lookup(topics[0], 1)
	require.True(t, ok)
	require.EqualValues(t, 7, offset.At)

	// The same transactional id goes on, and readers see it: what was open has its abort marker.
	require.NoError(t, commit(ctx, successor, "after"))
	want["after"] = whole
	require.Equal(t, want, b.committed())
	require.NoError(t, b.Stop(syscall.SIGTERM), "stops cleanly")
	b.Start(t)
	require.Equal(t, want, b.committed())
}

// Killed at any moment, the broker shows each flush whole or not at all, and every flush that was acknowledged.
func TestKillNeverShowsHalfATransaction(t *testing.T) {
	b := startBroker(t)
	acknowledged := map[string]bool{}
	for round := range 8 {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan []string)
		began := make(chan struct{}) // the producer has committed once, and goes on
		go func() { done <- commitUntil(ctx, b, round, func() { close(began) }) }()
		<-began
		killAtSomeMoment(t, b, 60*time.Millisecond)
		cancel()
		b.Start(t) // first: a client does not give up records that it has sent while it can't ask what became of them
		for _, value := range <-done {
			acknowledged[value] = true
		}
		seen := b.committed()
		for value, n := range seen {
			require.Equal(t, whole, n, "flush %s", value)
		}
		for value := range acknowledged {
			require.Contains(t, seen, value)
		}
	}
	require.NotEmpty(t, acknowledged)
}

// commitUntil commits flush after flush and returns those that were acknowledged.
func commitUntil(ctx context.Context, b *broker, round int, began func()) (acknowledged []string) {
	began = sync.OnceFunc(began)
	defer began() // also when the first one fails
	producer := b.producer()
	defer producer.CloseAllowingRebalance()
	for i := 0; ctx.Err() == nil; i++ {
		value := fmt.Sprintf("%d-%d", round, i)
		if commit(ctx, producer, value) != nil {
			return acknowledged
		}
		acknowledged = append(acknowledged, value)
		began()
	}
	return acknowledged
}

// killAtSomeMoment kills the broker at a random moment of what it is doing. It waits for nothing: the moment is the input
// of the test.
func killAtSomeMoment(t *testing.T, b *broker, within time.Duration) {
	moment, cancel := context.WithTimeout(t.Context(), rand.N(within))
	defer cancel()
	<-moment.Done()
	require.Error(t, b.Stop(syscall.SIGKILL))
}

// A producer whose request to commit was cut off by the kill asks again after the restart, and is told the truth.
func TestProducerGoesOnOverAKill(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	b := startBroker(t)
	producer := b.producer()
	defer producer.Close()
	want := map[string]int{}
	for round := range 4 {
		value := fmt.Sprint("before-", round)
		require.NoError(t, produce(ctx, producer, value))
		ended := make(chan error, 1)
		go func() { ended <- producer.EndTransaction(ctx, kgo.TryCommit) }()
		killAtSomeMoment(t, b, 12*time.Millisecond)
		b.Start(t)
		if <-ended == nil {
			want[value] = whole
		} else {
			// It does not know, and must begin anew. The flush is there as a whole or not at all.
			producer.Close()
			producer = b.producer()
			if n := b.committed()[value]; n != 0 {
				want[value] = whole
			}
		}
		require.Equal(t, want, b.committed())
	}
}

func TestDeadProducersTransactionTimesOut(t *testing.T) {
	ctx := t.Context()
	b := startBroker(t)
	dead := b.producer(kgo.TransactionTimeout(time.Second))
	require.NoError(t, produce(ctx, dead, "dead"))
	dead.CloseAllowingRebalance()

	live := b.producer(kgo.TransactionalID("ingestor-2"))
	defer live.Close()
	require.NoError(t, commit(ctx, live, "live"))
	require.Empty(t, b.committed(), "the open transaction holds readers back")
	require.Eventually(t, func() bool { return b.committed()["live"] == whole }, deadline, pollEvery)
	require.Equal(t, map[string]int{"live": whole}, b.committed())
}

func TestSecondProcessOnTheSameDirectoryIsTold(t *testing.T) {
	b := startBroker(t)
	out, err := b.Command().CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), fmt.Sprintf("in use by process %d", b.PID()))
	require.Contains(t, string(out), "--data-dir")
}

func TestTopicsKeepTheirPartitions(t *testing.T) {
	b := startBroker(t)
	client := b.client()
	defer client.Close()
	found, err := kadm.NewClient(client).ListTopics(t.Context())
	require.NoError(t, err)
	require.Len(t, found, len(topics))
	for _, topic := range topics {
		require.Len(t, found[topic].Partitions, partitions)
	}
}
