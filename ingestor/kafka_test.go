package ingestor

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"topk/internal/wire"
)

const (
	testPartitions = 3
	testPatience   = 20 * time.Second // for what normally takes milliseconds
)

func startKafka(t testing.TB, opts ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	opts = append([]kfake.Opt{kfake.NumBrokers(1), kfake.SeedTopics(testPartitions, wire.EventsTopic, wire.CountsTopic)}, opts...)
	cluster, err := kfake.NewCluster(opts...)
	require.NoError(t, err)
	t.Cleanup(cluster.Close)
	return cluster
}

// running is an ingestor under test.
type running struct {
	t      testing.TB
	in     *Ingestor
	url    string
	cancel context.CancelFunc
	done   chan error
}

func testConfig(brokers []string) Config {
	cfg := DefaultConfig()
	cfg.Name, cfg.Listen, cfg.Brokers, cfg.FlushInterval = "test", "127.0.0.1:0", brokers, 20*time.Millisecond
	return cfg
}

func start(t testing.TB, cfg Config, change ...func(*Ingestor)) *running {
	t.Helper()
	in, err := New(cfg, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	require.NoError(t, err)
	for _, c := range change {
		c(in)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{t: t, in: in, cancel: cancel, done: make(chan error, 1)}
	go func() { r.done <- in.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-r.done:
			if err != nil {
				t.Logf("the ingestor ended: %v", err)
			}
		case <-time.After(2 * testPatience):
			t.Error("ingestor does not stop")
		}
	})
	require.Eventually(t, func() bool { return in.Addr() != "" }, testPatience, time.Millisecond)
	r.url = "http://" + in.Addr()
	return r
}

func (r *running) ready() *running {
	r.t.Helper()
	require.Eventually(r.t, func() bool {
		status, _ := r.get("/readyz")
		return status == http.StatusOK
	}, testPatience, 5*time.Millisecond)
	return r
}

// stop ends the ingestor as SIGTERM would and returns what Run returned.
func (r *running) stop() error {
	r.cancel()
	err := <-r.done
	r.done <- err
	return err
}

func (r *running) get(path string) (int, string) { return r.do(http.MethodGet, path, "", "", nil) }

func (r *running) post(body string) (int, string) {
	return r.do(http.MethodPost, "/v1/events", "application/json", body, nil)
}

func (r *running) do(method, path, contentType, body string, header http.Header) (int, string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.url+path, strings.NewReader(body))
	require.NoError(r.t, err)
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	for k, v := range header {
		req.Header[k] = v
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	require.NoError(r.t, err)
	return resp.StatusCode, string(answer)
}

// message is a committed record, decoded.
type message struct {
	topic      string
	partition  int32
	events     []wire.EventRow
	counts     []wire.Count
	watermark  int64
	partitions int
	closed     bool
	timestamp  time.Time
	bytes      int
}

// log reads the committed records of both topics.
type log struct {
	t        testing.TB
	client   *kgo.Client
	messages []message
}

func openLog(t testing.TB, brokers []string) *log {
	t.Helper()
	client, err := kgo.NewClient(
		kgo.SeedBrokers(brokers...), kgo.ConsumeTopics(wire.EventsTopic, wire.CountsTopic),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchMaxWait(100*time.Millisecond),
	)
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return &log{t: t, client: client}
}

// until reads on until done says so.
func (l *log) until(what string, done func() bool) {
	l.t.Helper()
	deadline := time.Now().Add(testPatience)
	for !done() {
		if time.Now().After(deadline) {
			require.Fail(l.t, "not seen in Kafka: "+what)
		}
		l.poll()
	}
}

func (l *log) poll() {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	l.client.PollFetches(ctx).EachRecord(func(r *kgo.Record) {
		m := message{topic: r.Topic, partition: r.Partition, timestamp: r.Timestamp, bytes: len(r.Value)}
		var err error
		if r.Topic == wire.EventsTopic {
			m.events, err = wire.DecodeEvents(r.Value)
		} else {
			m.counts, err = wire.DecodeCounts(r.Value)
		}
		require.NoError(l.t, err)
		for _, h := range r.Headers {
			switch h.Key {
			case wire.HeaderWatermark:
				m.watermark, err = strconv.ParseInt(string(h.Value), 10, 64)
			case wire.HeaderPartitions:
				m.partitions, err = strconv.Atoi(string(h.Value))
			case wire.HeaderClosed:
				m.closed = string(h.Value) == "1"
			}
			require.NoError(l.t, err)
		}
		l.messages = append(l.messages, m)
	})
}

// ids counts how often each event id stands in the events topic.
func (l *log) ids() map[string]int {
	ids := map[string]int{}
	for _, m := range l.messages {
		for _, e := range m.events {
			if e.ItemType != "" {
				ids[e.ID]++
			}
		}
	}
	return ids
}

// total adds up the counts topic per item.
func (l *log) total() map[string]uint64 {
	total := map[string]uint64{}
	for _, m := range l.messages {
		for _, c := range m.counts {
			if c.N > 0 {
				total[c.ItemID] += c.N
			}
		}
	}
	return total
}
