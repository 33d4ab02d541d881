package ingestor

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"hash/maphash"
	"io"
	"math/rand"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// benchEvents are views of ten million items by Zipf 1.1, as live traffic has them: a few dimensions, one second at a time.
func benchEvents(n int) []parsedEvent {
	rng := rand.New(rand.NewSource(1))
	zipf := rand.NewZipf(rng, 1.1, 1, 10_000_000-1)
	countries := [][]byte{[]byte("IN"), []byte("US"), []byte("BR"), []byte("DE")}
	events := make([]parsedEvent, n)
	for i := range events {
		e := &events[i]
		e.ID, e.ItemType, e.ItemID = fmt.Appendf(nil, "01JDZ5KQ3X%08dV7", i), defaultItemType, fmt.Appendf(nil, "v_%08x", zipf.Uint64())
		e.Country, e.Category, e.Language = countries[rng.Intn(len(countries))], []byte("music"), []byte("hi")
		e.Viewer = fmt.Appendf(nil, "u_%d", rng.Intn(1_000_000))
		e.Millis, e.hash = time.Now().UnixMilli(), hashItem(&e.Event)
	}
	return events
}

// perCPUSecond starts a benchmark's clocks and returns what reports its events per second of CPU time, the garbage
// collector's included. CPU time, unlike wall time, means something on a machine that others share.
func perCPUSecond(b *testing.B) func(events int) {
	b.Helper()
	used := func() time.Duration {
		var r syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
			b.Fatal(err)
		}
		return time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	runtime.GC()
	before := used()
	b.ResetTimer()
	return func(events int) {
		b.ReportMetric(float64(events)/(used()-before).Seconds()/1e6, "Mevents/core-s")
		b.ReportMetric(float64(events)/b.Elapsed().Seconds()/1e6, "Mevents/s")
	}
}

func BenchmarkCombiner(b *testing.B) {
	events := benchEvents(1 << 20)
	for _, distinct := range []bool{false, true} {
		name := "zipf"
		if distinct {
			name = "distinct"
		}
		b.Run(name, func(b *testing.B) {
			c := combiner{seed: maphash.MakeSeed()}
			second := uint32(1764547200)
			report := perCPUSecond(b)
			for i := range b.N {
				e := &events[i&(1<<20-1)]
				if distinct {
					second++ // every view makes a row
				}
				if c.add(&e.Event, second); len(c.entries) == maxBatchRows {
					c.reset()
				}
			}
			report(b.N)
		})
	}
}

// BenchmarkAccumulator is everything behind the parser and before Kafka: combining, encoding events, and the flush's
// encoding of counts, in requests of 1,000.
func BenchmarkAccumulator(b *testing.B) {
	const perRequest = 1000
	events := benchEvents(1 << 20)
	for _, goroutines := range []int{1, 2} {
		b.Run(fmt.Sprintf("goroutines=%d", goroutines), func(b *testing.B) {
			acc, f := newPipe(b, 12)
			var flush sync.Mutex
			var next atomic.Int64
			var wg sync.WaitGroup
			report := perCPUSecond(b)
			for range goroutines {
				wg.Go(func() {
					p := newParser()
					for {
						n := next.Add(1) - 1
						if n*perRequest >= int64(b.N) {
							return
						}
						at := int(n) * perRequest & (1<<20 - 1)
						p.events = append(p.events[:0], events[at:min(at+perRequest, 1<<20)]...)
						batch, err := acc.add(context.Background(), p)
						if err != nil {
							panic(err)
						}
						flush.Lock()
						if batch.rows > maxBatchRows/4 { // a flush's worth
							f.commitAll()
						}
						flush.Unlock()
					}
				})
			}
			wg.Wait()
			report(b.N)
		})
	}
}

func benchBody(events []parsedEvent, lines bool) []byte {
	body := []byte(`{"events":[`)
	separator := byte(',')
	if lines {
		body, separator = nil, '\n'
	}
	for i := range events {
		e := &events[i]
		body = fmt.Appendf(body, `{"event_id":%q,"item_type":"video","item_id":%q,"event_time":%q,"country":%q,"category":"music","language":"hi","viewer":%q}`,
			e.ID, e.ItemID, time.UnixMilli(e.Millis).UTC().Format("2006-01-02T15:04:05.000Z"), e.Country, e.Viewer)
		body = append(body, separator)
	}
	if lines {
		return body
	}
	body[len(body)-1] = ']'
	return append(body, '}')
}

// BenchmarkParse reads, checks and hashes events of a request of 1,000.
func BenchmarkParse(b *testing.B) {
	events := benchEvents(1000)
	for _, lines := range []bool{false, true} {
		name := "json"
		if lines {
			name = "ndjson"
		}
		b.Run(name, func(b *testing.B) {
			body := benchBody(events, lines)
			p := newParser()
			b.ReportAllocs()
			report := perCPUSecond(b)
			for range b.N {
				err := p.parseJSON
				if lines {
					err = p.parseLines
				}
				if err := err(body); err != nil || len(p.events) != 1000 {
					b.Fatal(err, len(p.events))
				}
			}
			report(b.N * 1000)
		})
	}
}

// BenchmarkHTTP sends batches to an ingestor process that commits to a Kafka process, and relates the events to the CPU
// time that the ingestor took. Set TOPK_BENCH_KAFKA to use another Kafka than kfake, and
// TOPK_BENCH_PROFILES to a directory for CPU profiles of the ingestor.
func BenchmarkHTTP(b *testing.B) {
	brokers := os.Getenv("TOPK_BENCH_KAFKA")
	if brokers == "" {
		brokers = startKafkaProcess(b)
	}
	for _, size := range []int{50, 1000} {
		b.Run(fmt.Sprintf("batch=%d", size), func(b *testing.B) {
			c := startChild(b, []string{brokers}, "TOPK_TEST_FLUSH_INTERVAL=500ms",
				"TOPK_TEST_PROFILE="+filepath.Join(os.Getenv("TOPK_BENCH_PROFILES"), fmt.Sprintf("ingestor.%d.prof", size)))
			const bodies = 64
			var sent [bodies][]byte
			events := benchEvents(bodies * size)
			for i := range sent {
				sent[i] = benchBody(events[i*size:(i+1)*size], false)
			}
			cpu := c.metric("process_cpu_seconds_total")
			b.ResetTimer()
			c.send(b, sent[:], (b.N+size-1)/size, max(32, 100_000/size))
			b.StopTimer()
			n := float64((b.N + size - 1) / size * size)
			cpu = c.metric("process_cpu_seconds_total") - cpu
			require.Equal(b, n, c.metric("topk_ingest_accepted_events_total"))
			b.ReportMetric(n/b.Elapsed().Seconds(), "events/s")
			b.ReportMetric(n/cpu, "events/core-s")
			b.ReportMetric(c.metric("process_resident_memory_bytes")/(1<<20), "RSS-MB")
			require.NoError(b, c.cmd.Process.Signal(syscall.SIGTERM)) // lets it write its profile
			require.NoError(b, c.wait())
		})
	}
}

// BenchmarkDistinct sends nothing but new items, as a spammer would, and reports the memory that the ingestor then has.
func BenchmarkDistinct(b *testing.B) {
	const size = 1000
	c := startChild(b, []string{startKafkaProcess(b)}, "TOPK_TEST_FLUSH_INTERVAL=500ms")
	var next, peak atomic.Int64
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			events := make([]parsedEvent, size)
			for first := next.Add(size) - size; first < int64(b.N); first = next.Add(size) - size {
				for i := range events {
					e := &events[i]
					e.ID, e.ItemID = fmt.Appendf(nil, "01JDZ5KQ3X%08dV7", first+int64(i)), fmt.Appendf(nil, "v_%08x", first+int64(i))
					e.Millis = time.Now().UnixMilli()
				}
				body := benchBody(events, false)
				body = bytes.ReplaceAll(body, []byte(`"country":"",`), nil)
				c.send(b, [][]byte{body}, 1, 1)
				if first%(64*size) == 0 {
					rss := int64(c.metric("process_resident_memory_bytes"))
					for old := peak.Load(); rss > old && !peak.CompareAndSwap(old, rss); old = peak.Load() {
					}
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(peak.Load())/(1<<20), "peak-RSS-MB")
	b.ReportMetric(c.metric("topk_ingest_accepted_events_total"), "items")
}

// send posts the bodies in turn, n requests by several connections at once: each waits for the commit.
func (c *ingestorProcess) send(b *testing.B, bodies [][]byte, n, connections int) {
	b.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections}}
	defer client.CloseIdleConnections()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range connections {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				resp, err := client.Post(c.url+"/v1/events", "application/json", bytes.NewReader(bodies[i%int64(len(bodies))]))
				if err != nil {
					b.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				if resp.StatusCode != http.StatusAccepted {
					b.Error(resp.Status)
					return
				}
			}
		})
	}
	wg.Wait()
}

// metric reads one number off the child's /metrics.
func (c *ingestorProcess) metric(name string) float64 {
	c.t.Helper()
	_, text := c.get("/metrics")
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			require.NoError(c.t, err)
			return v
		}
	}
	require.Fail(c.t, "no such metric: "+name)
	return 0
}

// kafkaEnv makes the test binary a Kafka.
const kafkaEnv = "TOPK_TEST_KAFKA"

func startKafkaProcess(b *testing.B) string {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), kafkaEnv+"=1")
	in, err := cmd.StdinPipe()
	require.NoError(b, err)
	out, err := cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	b.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	addr, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(b, err)
	return strings.TrimSpace(addr)
}
