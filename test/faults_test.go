package test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"topk/embedded"
	"topk/internal/list"
)

// player sends batches as a well-behaved client does: it repeats a batch with the same ids until it gets a 202, and
// remembers what was accepted.
type player struct {
	stack    *embedded.Stack
	itemType string
	random   *rand.Rand

	mu       sync.Mutex
	accepted map[string]uint64 // item -> distinct accepted events
	events   uint64
	attempts uint64 // batches that were sent more than once
}

func newPlayer(stack *embedded.Stack, itemType string) *player {
	return &player{stack: stack, itemType: itemType, random: rand.New(rand.NewPCG(1, 2)), accepted: map[string]uint64{}}
}

// play sends one batch of 400 events after another, each when the last was accepted, until the context ends.
func (p *player) play(ctx context.Context) error {
	for batch := 0; ctx.Err() == nil; batch++ {
		if err := p.send(batch); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) send(batch int) error {
	items := map[string]uint64{}
	events := make([]string, 400)
	at := time.Now().UTC().Format(time.RFC3339Nano)
	for i := range events {
		item := fmt.Sprintf("item-%d", int(p.random.ExpFloat64()*20))
		items[item]++
		events[i] = fmt.Sprintf(`{"event_id":"%s-%d-%d","item_type":%q,"item_id":%q,"event_time":%q}`, p.itemType, batch, i, p.itemType, item, at)
	}
	body := `{"events":[` + strings.Join(events, ",") + `]}`
	deadline := time.Now().Add(time.Minute)
	retry := time.NewTicker(100 * time.Millisecond) // as players do
	defer retry.Stop()
	for {
		status, answer, err := post(p.stack, body)
		if err == nil && status == http.StatusAccepted {
			break
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("batch %d was not accepted within a minute: %d %s %w", batch, status, answer, err)
		}
		if err == nil && status != http.StatusServiceUnavailable && status != http.StatusTooManyRequests {
			return fmt.Errorf("batch %d: status %d: %s", batch, status, answer)
		}
		p.mu.Lock()
		p.attempts++
		p.mu.Unlock()
		<-retry.C
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for item, n := range items {
		p.accepted[item] += n
	}
	p.events += uint64(len(events))
	return nil
}

// during plays while fault runs, and a little before and after it.
func (p *player) during(t *testing.T, fault func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.play(ctx) }()
	p.awaitEvents(t, 2000)
	fault()
	p.mu.Lock()
	target := p.events + 5000
	p.mu.Unlock()
	p.awaitEvents(t, target)
	cancel()
	require.NoError(t, <-done)
}

func (p *player) awaitEvents(t *testing.T, n uint64) {
	t.Helper()
	require.Eventually(t, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.events >= n
	}, 2*time.Minute, 20*time.Millisecond)
}

// requireExact waits for a list that covers everything and compares each count with what was accepted.
func (p *player) requireExact(t *testing.T) *list.List {
	t.Helper()
	end := time.Now().Add(time.Second)
	got := awaitList(t, p.stack, p.itemType, "1h", 1000, 2*time.Minute, func(l *list.List) bool { return l.AsOf.After(end) })
	require.Equal(t, list.MethodVerified, got.Method)
	require.Equal(t, p.events, got.Total)
	require.Len(t, got.Items, len(p.accepted))
	for _, item := range got.Items {
		require.Equal(t, p.accepted[item.ItemID], item.Count, item.ItemID)
	}
	return got
}

// ClickHouse dies while events flow, by TERM and by kill -9: after catching up, verified counts equal what was accepted.
func TestClickHouseRestartsKeepVerifiedCountsExact(t *testing.T) {
	stack := startStack(t, "wall", nil)
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		t.Run(signal.String(), func(t *testing.T) {
			p := newPlayer(stack, fmt.Sprintf("restart_%d", signal))
			p.during(t, func() {
				require.NoError(t, stack.Signal("clickhouse", signal))
				require.NoError(t, stack.Restart(t.Context(), "clickhouse"))
			})
			got := p.requireExact(t)
			require.Zero(t, got.MaxOvercount)
		})
	}
}

// The ingestor dies by kill -9 while events flow. A batch whose answer was lost is sent again with the same ids: it may be
// in the counts twice, and max_overcount covers it; nothing that was accepted is missing.
func TestIngestorKilledLosesNothingItAccepted(t *testing.T) {
	stack := startStack(t, "wall", nil)
	p := newPlayer(stack, "killed")
	p.during(t, func() {
		for range 3 {
			require.NoError(t, stack.Signal("ingest", syscall.SIGKILL))
			require.NoError(t, stack.Restart(t.Context(), "ingest"))
			p.mu.Lock()
			target := p.events + 1000
			p.mu.Unlock()
			p.awaitEvents(t, target)
		}
	})
	end := time.Now().Add(time.Second)
	got := awaitList(t, stack, "killed", "1h", 1000, 2*time.Minute, func(l *list.List) bool { return l.AsOf.After(end) })
	require.Len(t, got.Items, len(p.accepted))
	require.Equal(t, p.events+got.MaxOvercount, got.Total, "what is over the distinct events is what max_overcount says")
	for _, item := range got.Items {
		truth := p.accepted[item.ItemID]
		require.GreaterOrEqual(t, item.Count, truth, item.ItemID)
		require.LessOrEqual(t, item.Count, truth+got.MaxOvercount, item.ItemID)
		require.LessOrEqual(t, item.Lower, truth, item.ItemID)
	}
}

// The rollup worker and PostgreSQL die while events flow: lists go on being served, and are exact afterwards.
func TestReadsGoOnWhileTheWorkerAndPostgreSQLAreAway(t *testing.T) {
	stack := startStack(t, "wall", nil)
	p := newPlayer(stack, "away")
	p.during(t, func() {
		awaitList(t, stack, "away", "1m", 10, time.Minute, func(l *list.List) bool { return l.Total > 0 })
		for _, service := range []string{"rollup", "postgres"} {
			require.NoError(t, stack.Signal(service, syscall.SIGKILL))
			for range 100 {
				got, err := topkList(stack, "away", "1m", 10)
				require.NoError(t, err, "a list that once existed is always served")
				require.NotEmpty(t, got.Items)
			}
			require.NoError(t, stack.Restart(t.Context(), service))
		}
	})
	p.requireExact(t)
}
