package feed

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
)

// statusEvery is how often a running load says how it does.
const statusEvery = 5 * time.Second

// Load generates events at a rate that does not wait for the answers, until its duration or number is reached or ctx
// ends. What is in flight then is still waited for, so that the report knows what was accepted. The report is there also
// when an error ended it.
func Load(ctx context.Context, cfg LoadConfig) (*LoadReport, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	started := time.Now()
	l := &load{
		cfg:     cfg,
		started: started,
		run:     "l" + strconv.FormatInt(started.UnixMilli(), 36),
		client:  NewClient(cfg.Ingest, cfg.Connections, cfg.RetryFor),
		tally:   newTally(cfg.Items),
		batches: make(chan *loadBatch),
		spare:   make(chan *loadBatch, cfg.Connections+1),
	}
	defer l.client.Close()
	for range cap(l.spare) {
		l.spare <- &loadBatch{}
	}
	var freshness *probe
	if cfg.Probe {
		freshness = newProbe(&cfg, l.run)
	}
	err := l.runWith(ctx, freshness)
	report := l.report()
	if freshness != nil {
		report.Probe = freshness.report()
	}
	if cfg.Verify && err == nil {
		report.Verified, err = l.verify(context.WithoutCancel(ctx))
	}
	return report, err
}

type load struct {
	cfg     LoadConfig
	run     string
	client  *Client
	tally   *tally
	batches chan *loadBatch
	spare   chan *loadBatch // buffers that nobody uses: one a sender and one being filled
	post    histogram       // from when a request was due to its answer
	started time.Time
	ended   time.Time // when the last event was generated
}

// runWith generates, sends and probes until all of it has ended.
func (l *load) runWith(ctx context.Context, freshness *probe) error {
	generating, stop := context.WithCancel(ctx)
	defer stop()
	if l.cfg.Duration > 0 {
		generating, stop = context.WithDeadline(ctx, l.started.Add(l.cfg.Duration))
		defer stop()
	}
	// Requests in flight outlive the generator. After an interrupt they have drainTime.
	sending, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(drainTime, cut) })()
	group, sending := errgroup.WithContext(sending)
	generating, failed := context.WithCancel(generating)
	defer failed()
	defer context.AfterFunc(sending, failed)()
	for range l.cfg.Connections {
		group.Go(func() error { return l.send(sending) })
	}
	group.Go(func() error {
		defer failed()
		defer close(l.batches)
		l.generate(generating)
		return nil
	})
	group.Go(func() error { l.status(generating); return nil })
	if freshness != nil {
		group.Go(func() error { return freshness.run(generating, sending) })
	}
	return group.Wait()
}

// generate fills batches when they are due and hands them over. When the senders are all busy it waits, and when it is
// more than maxBehind late it leaves the missed time out.
func (l *load) generate(ctx context.Context) {
	stream := newStream(&l.cfg, l.run)
	size := l.cfg.batchSize()
	interval := time.Duration(float64(size) / l.cfg.total() * float64(time.Second))
	due, left := l.started, l.cfg.Events
	timer := time.NewTimer(0)
	defer timer.Stop()
	defer func() { l.ended = time.Now() }()
	for ctx.Err() == nil {
		n := size
		if l.cfg.Events > 0 {
			if left == 0 {
				return
			}
			n = int(min(uint64(n), left))
			left -= uint64(n)
		}
		timer.Reset(time.Until(due))
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		if late := time.Since(due); late > maxBehind {
			missed := late / interval
			due = due.Add(missed * interval)
			l.tally.skipped(uint64(missed) * uint64(size))
		}
		b := <-l.spare
		stream.fill(b, n, time.Now())
		b.due = due
		due = due.Add(interval)
		select {
		case l.batches <- b:
		case <-ctx.Done():
			return
		}
	}
}

// send posts batches until there are no more. A batch that is given up is counted, unless nothing was ever accepted:
// then the ingestor is not there.
func (l *load) send(ctx context.Context) error {
	for b := range l.batches {
		verdict, err := l.client.SendEvents(ctx, b.body)
		var refused *RefusedError
		switch {
		case err == nil && verdict.Accepted+len(verdict.Rejected) != len(b.sent):
			return fmt.Errorf("the ingestor answered for %d events where %d were sent", verdict.Accepted+len(verdict.Rejected), len(b.sent))
		case err == nil:
			l.post.add(time.Since(b.due))
			l.tally.answered(b, verdict)
		case errors.As(err, &refused) && !passing(refused.Status), l.tally.snapshot().Accepted == 0:
			l.tally.lost(b, verdict)
			return err
		default:
			l.tally.lost(b, verdict)
			l.cfg.Log.Warn("gave up a batch", "events", len(b.sent), "error", err)
		}
		l.spare <- b
	}
	return nil
}

// status logs the progress of the load.
func (l *load) status(ctx context.Context) {
	ticker := time.NewTicker(statusEvery)
	defer ticker.Stop()
	last, at := LoadCounts{}, l.started
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			counts := l.tally.snapshot()
			rate := float64(counts.Accepted-last.Accepted) / now.Sub(at).Seconds()
			l.cfg.Log.Info("load", "seconds", int(now.Sub(l.started).Seconds()), "accepted_per_second", int(rate),
				"accepted", counts.Accepted, "skipped", counts.Skipped, "unknown", counts.Unknown,
				"in_flight", cap(l.spare)-len(l.spare))
			last, at = counts, now
		}
	}
}
