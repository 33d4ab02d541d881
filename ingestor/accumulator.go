package ingestor

import (
	"context"
	"errors"
	"sync"
	"time"

	"topk/internal/wire"
)

// Why a request is not accepted. Each is answered with 503: try again with the same ids.
var (
	errStopping = errors.New("the ingestor is shutting down")
	errNoRoom   = errors.New("the ingestor's memory is full: Kafka takes less than arrives")
	errNoKafka  = errors.New("no answer from Kafka yet")
)

// accumulator is where requests and flushes meet: requests fill one batch while another is on its way.
type accumulator struct {
	cfg     *Config
	rules   timeRules
	metrics *metrics
	now     func() time.Time

	mu       sync.Mutex
	current  *batch        // nil until Kafka's partitions are known
	swapped  chan struct{} // closed when current is replaced
	stopping bool
	newest   int64     // newest accepted second, epoch milliseconds, committed or not
	lastSeen time.Time // wall clock of the last accepted event
	late     int64     // events before it are late: the last watermark sent
	ids      *conflicts

	early  chan struct{} // asks for a flush now
	turned chan struct{} // tells that the newest second is a new one, on the wall clock
}

func newAccumulator(cfg *Config, m *metrics, now func() time.Time) *accumulator {
	return &accumulator{
		cfg: cfg, rules: newTimeRules(*cfg), metrics: m, now: now, ids: newConflicts(),
		swapped: make(chan struct{}), early: make(chan struct{}, 1), turned: make(chan struct{}, 1),
	}
}

// add takes the good events of a request, all into one batch, and returns that batch. Events whose time is wrong are moved
// to the request's rejected ones. It waits for room while the batch is full.
func (a *accumulator) add(ctx context.Context, r *parser) (*batch, error) {
	b, err := a.lockRoom(ctx)
	if err != nil {
		return nil, err
	}
	defer a.mu.Unlock()
	now := a.now()
	nowMs := now.UnixMilli()
	before, newest := b.accepted, a.newest
	var restamped, late, conflicts int
	for i := range r.events {
		e := &r.events[i]
		millis, stamped, problem := a.rules.place(e, nowMs, a.newest)
		if problem != nil {
			r.reject(e.index, problem)
			continue
		}
		if stamped == wire.Ahead {
			restamped++
		}
		if millis < a.late {
			late++
		}
		e.Millis, e.Stamped = millis, stamped
		if a.ids.see(e) {
			conflicts++
		}
		b.add(e)
		a.newest = max(a.newest, millis-millis%1000)
	}
	r.accepted = b.accepted - before
	if r.accepted > 0 {
		a.lastSeen = now
	}
	a.metrics.restamped.Add(float64(restamped))
	a.metrics.late.Add(float64(late))
	a.metrics.conflicts.Add(float64(conflicts))
	a.metrics.bufferedRows.Set(float64(b.rows))
	a.metrics.bufferedBytes.Set(float64(b.bytes))
	if a.newest > newest && a.cfg.Clock == ClockWall {
		notify(a.turned)
	}
	if b.full() {
		notify(a.early)
	}
	return b, nil
}

// lockRoom returns the current batch when it has room, with the lock held.
func (a *accumulator) lockRoom(ctx context.Context) (*batch, error) {
	var timeout <-chan time.Time
	for {
		a.mu.Lock()
		switch {
		case a.stopping:
			a.mu.Unlock()
			return nil, errStopping
		case a.current == nil:
			a.mu.Unlock()
			return nil, errNoKafka
		case !a.current.full():
			return a.current, nil
		}
		swapped := a.swapped
		a.mu.Unlock()
		if timeout == nil {
			timer := time.NewTimer(roomTimeout)
			defer timer.Stop()
			timeout = timer.C
		}
		select {
		case <-swapped:
		case <-timeout:
			return nil, errNoRoom
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// post takes a watermark that a replay sends, and returns the batch that will carry it.
func (a *accumulator) post(millis int64) (*batch, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.stopping:
		return nil, errStopping
	case a.current == nil:
		return nil, errNoKafka
	}
	a.current.posted = max(a.current.posted, millis)
	notify(a.early)
	return a.current, nil
}

// notify leaves word for the flush, unless there is some already.
func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// swap installs the next batch and returns the one to flush, with how long no event has come.
func (a *accumulator) swap(next *batch) (b *batch, quiet time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	b, a.current = a.current, next
	close(a.swapped)
	a.swapped = make(chan struct{})
	if b != nil && b.full() {
		cause := "rows"
		if b.bytes >= maxBatchBytes {
			cause = "bytes"
		}
		a.metrics.early.WithLabelValues(cause).Inc()
	}
	return b, a.now().Sub(a.lastSeen)
}

// sent learns which watermark has been committed: earlier events are late from now on.
func (a *accumulator) sent(millis int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.late = millis
}

// stop refuses further requests. What was accepted before stays in the current batch.
func (a *accumulator) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.stopping {
		a.stopping = true
		close(a.swapped)
		a.swapped = make(chan struct{})
	}
}
