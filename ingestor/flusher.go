package ingestor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"topk/internal/wire"
)

// flusher turns batches into transactions, one after another: order needs no further care.
type flusher struct {
	cfg      *Config
	log      *slog.Logger
	metrics  *metrics
	acc      *accumulator
	producer *producer
	instance string // name@start: names this process start in every row
	now      func() time.Time

	mark       watermark
	pace       pacer
	sequence   uint64      // of the last counts message; never used twice
	open       wire.Counts // the message being encoded
	partitions int
	asked      time.Time // when partitions was asked for
	spare      *batch    // committed, and empty again
	notReady   atomic.Pointer[string]
}

func newFlusher(cfg *Config, log *slog.Logger, m *metrics, acc *accumulator, now func() time.Time) *flusher {
	f := &flusher{cfg: cfg, log: log, metrics: m, acc: acc, producer: &producer{cfg: cfg, log: log}, now: now,
		pace: pacer{interval: cfg.FlushInterval}}
	f.instance = cfg.Name + "@" + strconv.FormatInt(now().UnixMilli(), 10)
	f.setState("Kafka has not been reached yet")
	return f
}

// setState says why the ingestor is not ready, "" when it is, and reports whether that is news.
func (f *flusher) setState(notReady string) (news bool) {
	before, _ := f.state()
	if notReady == "" {
		f.notReady.Store(nil)
	} else {
		f.notReady.Store(&notReady)
	}
	return before != notReady
}

func (f *flusher) state() (reason string, ok bool) {
	if s := f.notReady.Load(); s != nil {
		return *s, false
	}
	return "", true
}

// run flushes until ctx ends, then flushes what was accepted and says goodbye. It returns early when going on is
// pointless; every request that waits has its answer then, too.
func (f *flusher) run(ctx context.Context) error {
	defer f.producer.close()
	err := f.start(ctx)
	for err == nil && ctx.Err() == nil {
		err = f.flush(context.WithoutCancel(ctx), false)
		if errors.Is(err, ErrFenced) {
			break
		}
		f.pause(ctx, err)
		err = nil
	}
	f.acc.stop()
	if err != nil {
		b, _ := f.acc.swap(nil)
		if b != nil {
			b.finish(err)
		}
		return err
	}
	return f.goodbye()
}

// start waits until both topics are there.
func (f *flusher) start(ctx context.Context) error {
	for ctx.Err() == nil {
		err := f.refresh(ctx)
		if err == nil {
			f.acc.swap(newBatch(f.instance, f.partitions))
			return nil
		}
		if errors.Is(err, ErrPartitions) {
			return err
		}
		if f.setState(err.Error()) {
			f.log.Warn("waiting for Kafka", "err", err)
		}
		f.pause(ctx, err)
	}
	return nil
}

// failurePause is how long a failed flush is followed by none: Kafka has other things to do than to refuse us.
const failurePause = 500 * time.Millisecond

// pause waits for the next flush: its time, or a reason to be early, unless the last one failed.
func (f *flusher) pause(ctx context.Context, failure error) {
	due, early, turned := f.pace.due(), f.acc.early, f.acc.turned
	if failure != nil {
		due, early, turned = time.Now().Add(max(f.cfg.FlushInterval, failurePause)), nil, nil
	}
	timer := time.NewTimer(time.Until(due))
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return
		case <-early:
			return
		case <-turned:
			timer.Reset(time.Until(f.pace.turn(time.Now())))
		case <-ctx.Done():
			return
		}
	}
}

// refresh learns the number of partitions.
func (f *flusher) refresh(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, produceTimeout)
	defer cancel()
	n, err := f.producer.partitions(ctx)
	if err != nil {
		return err
	}
	f.partitions, f.asked = n, f.now()
	return nil
}

func (f *flusher) nextBatch() *batch {
	if b := f.spare; b != nil && len(b.parts) == f.partitions {
		f.spare = nil
		return b
	}
	return newBatch(f.instance, f.partitions)
}

// flush commits the current batch, with a heartbeat in every partition that has nothing else, and answers its requests.
func (f *flusher) flush(ctx context.Context, last bool) error {
	if f.now().Sub(f.asked) > metadataMaxAge && f.producer.client != nil {
		if err := f.refresh(ctx); err != nil {
			f.asked = f.now() // try again next time round: the partitions in use are still there
			f.log.Warn("partitions not refreshed", "err", err)
		}
	}
	var next *batch
	if !last {
		next = f.nextBatch()
	}
	b, quiet := f.acc.swap(next)
	if b == nil {
		return nil
	}
	began := time.Now()
	f.pace.began = began
	b.mark = f.mark.at(f.cfg, b, f.now(), quiet)
	records := f.records(b, last)
	err := f.producer.commit(ctx, records)
	f.metrics.flushSeconds.Observe(time.Since(began).Seconds())
	if err != nil {
		f.failed(b, err)
		return err
	}
	f.committed(b, records)
	return nil
}

func (f *flusher) failed(b *batch, err error) {
	f.metrics.failures.Inc()
	if f.setState(err.Error()) || b.accepted > 0 {
		f.log.Error("flush not committed", "events", b.accepted, "err", err)
	}
	b.finish(err)
}

func (f *flusher) committed(b *batch, records []*kgo.Record) {
	if f.setState("") {
		f.log.Info("flushes are committed", "partitions", f.partitions)
	}
	f.mark.committed(b, b.mark)
	f.acc.sent(b.mark)
	f.metrics.flushes.Inc()
	f.metrics.accepted.Add(float64(b.accepted))
	f.metrics.watermark.Set(float64(b.mark) / 1000)
	sent := map[string]int{}
	for _, r := range records {
		sent[r.Topic] += len(r.Value)
	}
	for topic, n := range sent {
		f.metrics.sentBytes.WithLabelValues(topic).Add(float64(n))
	}
	b.finish(nil)
	f.spare = b.emptied()
}

// goodbye flushes what was accepted and marks every partition closed, so that this ingestor's watermark holds nothing back.
func (f *flusher) goodbye() error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	if err := f.flush(ctx, true); err != nil {
		return fmt.Errorf("last flush: %w", err)
	}
	return nil
}

// records encodes a batch. Only the last message of a partition carries the new watermark: ClickHouse may stop reading
// between two messages, and the promise is about what has been read by then. The earlier ones carry the one before.
//
// A watermark that ends a second goes in a message apart, unless it is the first: before it there is none to send. ClickHouse ends a block at two messages a partition: it takes in at once what
// moves lists, and leaves what does not until then.
func (f *flusher) records(b *batch, last bool) []*kgo.Record {
	apart := last || f.mark.sent > 0 && b.mark/1000 > f.mark.sent/1000
	stamp := time.Now()
	plain := f.headers(f.mark.sent, false)
	final := f.headers(b.mark, last)
	var records []*kgo.Record
	for i := range b.parts {
		p := &b.parts[i]
		add := func(topic string) func([]byte, bool) {
			return func(value []byte, lastMessage bool) {
				headers := plain
				if lastMessage {
					headers = final
				}
				records = append(records, &kgo.Record{
					Topic: topic, Partition: int32(i), Value: value, Headers: headers, Timestamp: stamp,
				})
			}
		}
		p.endEvents(f.instance, apart)
		p.events.each(add(wire.EventsTopic))
		f.sequence = p.encodeCounts(&f.open, f.instance, f.sequence, apart)
		p.out.each(add(wire.CountsTopic))
	}
	return records
}

func (f *flusher) headers(mark int64, closed bool) []kgo.RecordHeader {
	headers := []kgo.RecordHeader{
		{Key: wire.HeaderWatermark, Value: strconv.AppendInt(nil, mark, 10)},
		{Key: wire.HeaderPartitions, Value: strconv.AppendInt(nil, int64(f.partitions), 10)},
	}
	if closed {
		headers = append(headers, kgo.RecordHeader{Key: wire.HeaderClosed, Value: []byte("1")})
	}
	return headers
}
