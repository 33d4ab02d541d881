package ingestor

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"topk/internal/wire"
)

const oneEvent = `{"events":[{"event_id":"e1","item_id":"a"}]}`

var (
	keyProduce = (&kmsg.ProduceRequest{}).Key()
	keyEndTxn  = (&kmsg.EndTxnRequest{}).Key()
)

// answerOf posts a body and delivers the status when it comes.
func (r *running) answerOf(body string) <-chan int {
	answer := make(chan int, 1)
	go func() {
		status, _ := r.post(body)
		answer <- status
	}()
	return answer
}

// TestAnsweredAfterTheCommit holds the commit back and sees that the answer is held back, too.
func TestAnsweredAfterTheCommit(t *testing.T) {
	kafka := startKafka(t)
	r := start(t, testConfig(kafka.ListenAddrs())).ready()
	var holding atomic.Bool
	held, release := make(chan struct{}, 1), make(chan struct{})
	kafka.ControlKey(keyEndTxn, func(kmsg.Request) (kmsg.Response, error, bool) {
		kafka.KeepControl()
		if holding.Load() {
			kafka.SleepControl(func() {
				select {
				case held <- struct{}{}:
				default:
				}
				<-release
			})
		}
		return nil, nil, false
	})
	holding.Store(true)
	<-held // a heartbeat's commit is held, so the event goes into the next batch
	answer := r.answerOf(oneEvent)
	require.Eventually(t, func() bool { return r.in.waiting.Load() == 1 }, testPatience, time.Millisecond)
	l := openLog(t, kafka.ListenAddrs())
	l.poll()
	require.Empty(t, l.ids())
	require.Empty(t, answer)
	holding.Store(false)
	close(release)
	require.Equal(t, http.StatusAccepted, <-answer)
	l.until("the event", func() bool { return l.ids()["e1"] == 1 && l.total()["a"] == 1 })
}

// TestRefusedCommit has the broker refuse the end of a transaction: its requests get 503, nothing of it is ever visible, and
// the retry is counted once.
func TestRefusedCommit(t *testing.T) {
	kafka := startKafka(t)
	r := start(t, testConfig(kafka.ListenAddrs())).ready()
	var refuse atomic.Bool
	kafka.ControlKey(keyEndTxn, func(req kmsg.Request) (kmsg.Response, error, bool) {
		kafka.KeepControl()
		if !refuse.Load() {
			return nil, nil, false
		}
		resp := req.ResponseKind().(*kmsg.EndTxnResponse)
		resp.ErrorCode = kerr.InvalidTxnState.Code
		return resp, nil, true
	})
	refuse.Store(true)
	status, answer := r.post(oneEvent)
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, answer, "same ids")
	status, _ = r.get("/readyz")
	require.Equal(t, http.StatusServiceUnavailable, status)
	refuse.Store(false)
	r.ready()
	status, answer = r.post(oneEvent)
	require.Equal(t, http.StatusAccepted, status, answer)
	l := openLog(t, kafka.ListenAddrs())
	l.until("the event", func() bool { return l.ids()["e1"] > 0 && l.total()["a"] > 0 })
	require.NoError(t, r.stop())
	l.untilClosed(r.in.flusher.instance)
	require.Equal(t, map[string]int{"e1": 1}, l.ids())
	require.Equal(t, map[string]uint64{"a": 1}, l.total())
}

// untilClosed reads on until an instance has said goodbye in every partition of both topics: then all it wrote is read.
func (l *log) untilClosed(instance string) {
	l.t.Helper()
	l.until("goodbye of "+instance, func() bool {
		closed := map[string]bool{}
		for _, m := range l.messages {
			if m.closed && m.instance() == instance {
				closed[fmt.Sprint(m.topic, m.partition)] = true
			}
		}
		return len(closed) == 2*testPartitions
	})
}

func (m message) instance() string {
	if m.topic == wire.EventsTopic {
		return m.events[0].Ingestor
	}
	return m.counts[0].Ingestor
}

// TestKafkaAway refuses every produce: requests are answered with 503 after a bound, memory stays bounded, and all is well
// again when Kafka is.
func TestKafkaAway(t *testing.T) {
	kafka := startKafka(t)
	r := start(t, testConfig(kafka.ListenAddrs())).ready()
	var away atomic.Bool
	kafka.ControlKey(keyProduce, func(kmsg.Request) (kmsg.Response, error, bool) {
		kafka.KeepControl()
		if away.Load() {
			return nil, context.DeadlineExceeded, true // closes the connection
		}
		return nil, nil, false
	})
	away.Store(true)
	began := time.Now()
	status, _ := r.post(oneEvent)
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Less(t, time.Since(began), 3*produceTimeout)
	away.Store(false)
	r.ready()
	status, answer := r.post(`{"events":[{"event_id":"e2","item_id":"a"}]}`)
	require.Equal(t, http.StatusAccepted, status, answer)
	require.NoError(t, r.stop())
	l := openLog(t, kafka.ListenAddrs())
	l.untilClosed(r.in.flusher.instance)
	require.Equal(t, map[string]int{"e2": 1}, l.ids(), "what was answered with 503 is not sent later")
	require.Equal(t, map[string]uint64{"a": 1}, l.total())
}

func TestKafkaNotReachedYet(t *testing.T) {
	cfg := testConfig([]string{"127.0.0.1:1"})
	r := start(t, cfg)
	status, answer := r.post(oneEvent)
	require.Equal(t, http.StatusServiceUnavailable, status, answer)
	status, answer = r.get("/readyz")
	require.Equal(t, http.StatusServiceUnavailable, status, answer)
	require.NoError(t, r.stop())
}

// cutter cuts the connection that an EndTxn request goes out on, once the request is on its way: the broker commits and
// the answer never comes.
type cutter struct {
	armed atomic.Bool
	cuts  atomic.Int32
}

func (c *cutter) dial(ctx context.Context, network, host string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, host)
	return &cutConn{Conn: conn, cutter: c}, err
}

type cutConn struct {
	net.Conn
	cutter *cutter
	cut    atomic.Bool
}

func (c *cutConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if len(b) >= 6 && int16(b[4])<<8|int16(b[5]) == keyEndTxn && c.cutter.armed.CompareAndSwap(true, false) {
		c.cut.Store(true)
		c.cutter.cuts.Add(1)
	}
	return n, err
}

func (c *cutConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.cut.Load() && n > 0 {
		_ = c.Close() // the answer has come, so the commit is done, and nobody is told
		return 0, net.ErrClosed
	}
	return n, err
}

// TestCommitWhoseAnswerIsLost: asking again finds that it was committed, so the answer is 202, and it is there once.
func TestCommitWhoseAnswerIsLost(t *testing.T) {
	kafka := startKafka(t)
	var c cutter
	r := start(t, testConfig(kafka.ListenAddrs()), func(in *Ingestor) {
		in.flusher.producer.opts = []kgo.Opt{kgo.Dialer(c.dial)}
	}).ready()
	c.armed.Store(true)
	status, answer := r.post(oneEvent)
	require.Equal(t, http.StatusAccepted, status, answer)
	require.Eventually(t, func() bool { return c.cuts.Load() == 1 }, testPatience, time.Millisecond)
	status, answer = r.post(`{"events":[{"event_id":"e2","item_id":"a"}]}`)
	require.Equal(t, http.StatusAccepted, status, answer)
	require.NoError(t, r.stop())
	l := openLog(t, kafka.ListenAddrs())
	l.untilClosed(r.in.flusher.instance)
	require.Equal(t, map[string]int{"e1": 1, "e2": 1}, l.ids())
}

// TestSameNameTakesOver: a newer instance of a name fences the older one, which says so and ends.
func TestSameNameTakesOver(t *testing.T) {
	kafka := startKafka(t)
	older := start(t, testConfig(kafka.ListenAddrs())).ready()
	newer := start(t, testConfig(kafka.ListenAddrs())).ready()
	select {
	case err := <-older.done:
		older.done <- err
		require.ErrorIs(t, err, ErrFenced)
	case <-time.After(testPatience):
		require.Fail(t, "the older instance goes on")
	}
	status, answer := newer.post(oneEvent)
	require.Equal(t, http.StatusAccepted, status, answer)
}

func TestTopicsWithDifferentPartitions(t *testing.T) {
	kafka, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(2, wire.EventsTopic), kfake.SeedTopics(3, wire.CountsTopic))
	require.NoError(t, err)
	defer kafka.Close()
	r := start(t, testConfig(kafka.ListenAddrs()))
	err = <-r.done
	r.done <- err
	require.ErrorIs(t, err, ErrPartitions)
	require.ErrorContains(t, err, "topk.counts.v1 has 3")
}

// TestEveryAcceptedEventOnce has many clients send at once and compares what was answered with what is in Kafka.
func TestEveryAcceptedEventOnce(t *testing.T) {
	kafka := startKafka(t)
	r := start(t, testConfig(kafka.ListenAddrs())).ready()
	const clients, requests, events = 8, 12, 40
	var accepted sync.Map
	var wg sync.WaitGroup
	for client := range clients {
		wg.Go(func() {
			for request := range requests {
				body := []byte("[")
				for e := range events {
					body = fmt.Appendf(body, `{"event_id":"%d-%d-%d","item_id":"i%d","country":"IN"},`, client, request, e, e%7)
				}
				body[len(body)-1] = ']'
				if status, _ := r.post(string(body)); status == http.StatusAccepted {
					for e := range events {
						accepted.Store(fmt.Sprintf("%d-%d-%d", client, request, e), true)
					}
				}
			}
		})
	}
	wg.Wait()
	require.NoError(t, r.stop())
	l := openLog(t, kafka.ListenAddrs())
	l.untilClosed(r.in.flusher.instance)
	ids := l.ids()
	require.Len(t, ids, clients*requests*events)
	for id, n := range ids {
		require.Equal(t, 1, n, id)
		_, ok := accepted.Load(id)
		require.True(t, ok, id)
	}
	sum := uint64(0)
	for _, n := range l.total() {
		sum += n
	}
	require.Equal(t, uint64(len(ids)), sum)
}
