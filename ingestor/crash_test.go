package ingestor

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"topk/embedded/child"
	"topk/internal/wire"
)

// childEnv makes the test binary an ingestor: its value is the brokers.
const childEnv = "TOPK_TEST_INGESTOR_BROKERS"

func TestMain(m *testing.M) {
	if brokers := os.Getenv(childEnv); brokers != "" {
		os.Exit(runChild(strings.Split(brokers, ",")))
	}
	if os.Getenv(kafkaEnv) != "" {
		runKafka()
		return
	}
	os.Exit(m.Run())
}

// runKafka is a Kafka in a process of its own. It prints its address and ends when standard input does.
func runKafka() {
	kafka, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(12, wire.EventsTopic, wire.CountsTopic),
		kfake.BrokerConfigs(map[string]string{"log.retention.bytes": strconv.Itoa(64 << 20), "log.segment.bytes": strconv.Itoa(8 << 20)}))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer kafka.Close()
	fmt.Println(kafka.ListenAddrs()[0])
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// runChild is an ingestor in a process of its own. It prints its address when it is ready, ends on SIGTERM,
// and returns its exit code.
func runChild(brokers []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	cfg := testConfig(brokers)
	if s := os.Getenv("TOPK_TEST_FLUSH_INTERVAL"); s != "" {
		cfg.FlushInterval, _ = time.ParseDuration(s)
	}
	if path := os.Getenv("TOPK_TEST_PROFILE"); strings.Contains(path, "/") {
		if out, err := os.Create(path); err == nil && pprof.StartCPUProfile(out) == nil {
			defer pprof.StopCPUProfile()
		}
	}
	debug.SetMemoryLimit(MemoryLimitBytes) // as the command does
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	in, err := New(cfg, slog.New(slog.NewTextHandler(os.Stderr, nil)), reg)
	if err == nil {
		go announce(ctx, in)
		err = in.Run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// announce prints the ingestor's address when it is ready.
func announce(ctx context.Context, in *Ingestor) {
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for {
		if _, ok := in.flusher.state(); ok && in.Addr() != "" {
			fmt.Println(in.Addr())
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// ingestorProcess is an ingestor in a process of its own.
type ingestorProcess struct {
	*running
	cmd  *exec.Cmd
	wait func() error // for its end, as often as asked
}

func startChild(t testing.TB, brokers []string, env ...string) *ingestorProcess {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), childEnv+"="+strings.Join(brokers, ",")), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, in, err := os.Pipe() // StdoutPipe is closed by Wait, which runs from the start
	require.NoError(t, err)
	defer func() { require.NoError(t, out.Close()) }()
	cmd.Stdout = in
	cmd.SysProcAttr = child.DiesWithParent(syscall.SIGKILL) // also when the test panics or runs out of time
	ended, err := child.Start(cmd, nil)
	require.NoError(t, errors.Join(err, in.Close()))
	c := &ingestorProcess{cmd: cmd, wait: sync.OnceValue(func() error { return <-ended })}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended already
		_ = c.wait()
		if t.Failed() {
			t.Logf("the child said: %.4000s", stderr.String())
		}
	})
	addr, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	c.running = &running{t: t, url: "http://" + strings.TrimSpace(addr)}
	return c
}

// TestKilledBetweenProduceAndCommit kills the ingestor when everything of a flush has been produced and the commit is about
// to be asked for. Nothing of that flush is ever visible, the client has no 202, and its retry is counted once.
func TestKilledBetweenProduceAndCommit(t *testing.T) {
	kafka := startKafka(t)
	first := startChild(t, kafka.ListenAddrs())
	var produced atomic.Bool // the flush that carries the events, and not a heartbeat
	var dead atomic.Bool
	killed := make(chan struct{})
	kafka.ControlKey(keyProduce, func(req kmsg.Request) (kmsg.Response, error, bool) {
		kafka.KeepControl()
		for _, topic := range req.(*kmsg.ProduceRequest).Topics {
			for _, partition := range topic.Partitions {
				if len(partition.Records) > 2000 {
					produced.Store(true)
				}
			}
		}
		return nil, nil, false
	})
	kafka.ControlKey(keyEndTxn, func(kmsg.Request) (kmsg.Response, error, bool) {
		kafka.KeepControl()
		if !produced.Load() || dead.Swap(true) {
			return nil, nil, false
		}
		_ = first.cmd.Process.Kill()
		close(killed)
		return nil, errors.New("the request never came"), true
	})
	body := "["
	for i := range 300 {
		body += fmt.Sprintf(`{"event_id":"e%d","item_id":"%x"},`, i, sha256.Sum256([]byte{byte(i), byte(i >> 8)}))
	}
	body = strings.TrimSuffix(body, ",") + "]"
	status, _ := first.post(body)
	<-killed
	require.Zero(t, status, "no answer")

	second := startChild(t, kafka.ListenAddrs())
	l := openLog(t, kafka.ListenAddrs())
	l.until("heartbeats of the second", func() bool {
		instances := map[string]bool{}
		for _, m := range l.messages {
			instances[m.instance()] = true
		}
		return len(instances) == 2
	})
	require.Empty(t, l.ids())
	require.Empty(t, l.total())

	status, answer := second.post(body)
	require.Equal(t, http.StatusAccepted, status, answer)
	l.until("the retry", func() bool { return len(l.ids()) == 300 && len(l.total()) == 300 })
	require.NoError(t, second.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, second.wait())
	l.until("goodbyes", func() bool { return l.closed() == 2*testPartitions })
	for id, n := range l.ids() {
		require.Equal(t, 1, n, id)
	}
	for item, n := range l.total() {
		require.Equal(t, uint64(1), n, item)
	}
}

func (l *log) closed() (n int) {
	for _, m := range l.messages {
		if m.closed {
			n++
		}
	}
	return n
}

// TestGracefulShutdown stops an ingestor while requests wait: they get their 202, and the last message of every partition
// says closed.
func TestGracefulShutdown(t *testing.T) {
	kafka := startKafka(t)
	cfg := testConfig(kafka.ListenAddrs())
	cfg.FlushInterval = 10 * time.Second // so that only the shutdown flushes
	r := start(t, cfg).ready()
	const requests = 5
	var answers []<-chan int
	for i := range requests {
		answers = append(answers, r.answerOf(fmt.Sprintf(`[{"event_id":"e%d","item_id":"a"}]`, i)))
	}
	require.Eventually(t, func() bool {
		r.in.acc.mu.Lock()
		defer r.in.acc.mu.Unlock()
		return r.in.acc.current.accepted == requests
	}, testPatience, time.Millisecond)
	began := time.Now()
	require.NoError(t, r.stop())
	require.Less(t, time.Since(began), shutdownTimeout)
	for _, answer := range answers {
		require.Equal(t, http.StatusAccepted, <-answer)
	}
	l := openLog(t, kafka.ListenAddrs())
	l.untilClosed(r.in.flusher.instance)
	require.Len(t, l.ids(), requests)
	_, err := r.in.acc.add(context.Background(), newParser())
	require.ErrorIs(t, err, errStopping)
}
